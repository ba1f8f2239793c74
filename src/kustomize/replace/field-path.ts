/**
 * The parts of a field path: dots separate, `\.` is a dot of a name, `[a.b]` is one name, `[key=value]` picks elements
 * of a list and keeps its brackets (kyaml/utils, SmarterPathSplitter).
 */
export function splitFieldPath(path: string): string[] {
  const split = splitEscaped(path)
  const parts: string[] = []
  for (let index = 0; index < split.length; index++) {
    const part = split[index]!
    if (!part.startsWith('[') || part.endsWith(']')) {
      parts.push(part)
      continue
    }
    const bracketed = [part]
    while (index < split.length - 1 && !bracketed.at(-1)!.endsWith(']')) bracketed.push(split[++index]!)
    const text = bracketed.join('.')
    parts.push(text.includes('=') ? text : text.replace(/^[[\]]+/, '').replace(/[[\]]+$/, ''))
  }
  return parts
}

function splitEscaped(path: string): string[] {
  const [first = '', ...rest] = path.split('.')
  const pieces = rest.length > 0 && first === '' ? rest : [first, ...rest]
  const parts: string[] = []
  for (const piece of pieces) {
    const last = parts.at(-1)
    if (last?.endsWith('\\')) parts[parts.length - 1] = `${last.slice(0, -1)}.${piece}`
    else parts.push(piece)
  }
  return parts
}

/** `[key=value]`: elements of a list; `[=value]` for those that are no maps. Undefined: no such part. */
interface ElementPart {
  readonly key: string
  readonly value: string
}

/** Whether a part picks elements of a list. */
export function isElementPart(part: string | undefined): boolean {
  return part?.startsWith('[') === true && part.endsWith(']')
}

/** What an element part says; undefined where it has no `=`, which kustomize refuses. */
export function parseElementPart(part: string): ElementPart | undefined {
  const inner = part.slice(1, -1)
  const equals = inner.indexOf('=')
  return equals < 0 ? undefined : { key: inner.slice(0, equals), value: inner.slice(equals + 1) }
}

/** The number that a part is for Go's strconv.Atoi; undefined for none. */
export function indexPart(part: string | undefined): number | undefined {
  return part !== undefined && /^[-+]?[0-9]{1,15}$/.test(part) ? Number(part) : undefined
}
