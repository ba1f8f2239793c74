import { BailiwickError } from '../../errors.ts'
import { type Cell, cellText } from './cell.ts'
import { setElement } from './set-element.ts'

type Directive = 'merge' | 'replace' | 'delete'

const KEY = '$patch'

/**
 * What a part of a patch says is to be done with the part of the object; the patch loses the directive. Throws
 * `kustomize-invalid` for an unknown one (kyaml/yaml/merge2/smpdirective.go).
 */
export function takeDirective(patch: Cell | undefined): Directive {
  if (!patch) return 'merge'
  if (patch.type === 'list') return takeListDirective(patch)
  const value = patch.fields.get(KEY)?.value
  if (!value) return 'merge'
  const directive = directiveOf(value)
  patch.fields.delete(KEY)
  return directive
}

/** The same, but an unknown directive stays and means nothing: kyaml does not ask for an error there. */
export function takeKnownDirective(patch: Cell | undefined): Directive | undefined {
  const value = patch?.fields.get(KEY)?.value
  return value && !isDirective(cellText(value)) ? undefined : takeDirective(patch)
}

/** The first element of a list with `$patch` speaks for the list if it holds nothing else. */
function takeListDirective(patch: Cell): Directive {
  const element = patch.items.find(item => item.fields.has(KEY))
  if (!element || element.fields.size > 1) return 'merge'
  const directive = directiveOf(element.fields.get(KEY)!.value)
  setElement(patch, undefined, [KEY], [directive])
  return directive
}

const isDirective = (text: string): text is Directive => text === 'merge' || text === 'replace' || text === 'delete'

function directiveOf(value: Cell): Directive {
  const text = cellText(value)
  if (isDirective(text)) return text
  throw new BailiwickError('kustomize-invalid', `$patch: unknown directive ${JSON.stringify(text)}`, {
    origin: value.origin,
    fix: 'Use `merge`, `replace` or `delete`.',
  })
}
