import { artifactPath } from '../../flux/artifact-path.ts'
import { NotUnderstood } from './not-understood.ts'
import { isKnown, type Symbolic, shownText } from './symbolic.ts'

/** What `flux push artifact` puts where. */
interface PushCommand {
  readonly target: PushTarget
  /** Folder of the checkout that becomes the root of the artifact. */
  readonly folder: string
  /** Patterns of what is left out; absent: the defaults of the command. */
  readonly ignore?: readonly string[]
}

/** An address with a tag, as far as both are known. */
export interface PushTarget {
  readonly repository: Symbolic
  readonly tag: Symbolic
}

/** Where the checkout lies on the runner. */
export const WORKSPACE = '/github/workspace'

const VALUES = new Set([
  ...['path', 'f', 'source', 'revision', 'creds', 'provider', 'ignore-paths', 'output', 'o', 'annotations', 'a', 'tag'],
  ...['timeout', 'namespace', 'n', 'context', 'kubeconfig'],
])
const SWITCHES = new Set(['reproducible', 'insecure-registry', 'verbose', 'debug'])

/** Reads the arguments of `flux push artifact` (cmd/flux/push_artifact.go). Throws NotUnderstood. */
export function pushCommand(words: readonly Symbolic[], cwd: string): PushCommand {
  const { address, options } = argumentsOf(words)
  const paths = [...(options.get('path') ?? []), ...(options.get('f') ?? [])]
  const [path] = paths
  if (path === undefined || paths.length > 1) throw new NotUnderstood('does not have exactly one --path')
  const ignore = options.get('ignore-paths')
  if (ignore && !ignore.every(one => isKnown(one) && !/["\n]/.test(one)))
    throw new NotUnderstood('has --ignore-paths with an unknown value')
  return {
    target: targetOf(address),
    folder: folderAt(cwd, path),
    ...(ignore ? { ignore: ignore.flatMap(one => one.split(',')) } : {}),
  }
}

/** Reads the arguments of `flux tag artifact`. Throws NotUnderstood. */
export function tagCommand(words: readonly Symbolic[]): {
  readonly target: PushTarget
  readonly tags: readonly Symbolic[]
} {
  const { address, options } = argumentsOf(words)
  const tags = (options.get('tag') ?? []).flatMap(one => one.split(','))
  if (tags.length === 0) throw new NotUnderstood('has no --tag')
  return { target: targetOf(address), tags }
}

function argumentsOf(words: readonly Symbolic[]) {
  const options = new Map<string, Symbolic[]>()
  const addresses: Symbolic[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!
    const option = /^--?([a-z-]+)(?:=([\s\S]*))?$/.exec(word)
    if (!option) {
      addresses.push(word)
      continue
    }
    const [, name = '', written] = option
    if (SWITCHES.has(name) && (written === undefined || written === 'true')) continue
    if (!VALUES.has(name)) throw new NotUnderstood(`has the unsupported option --${name}`)
    const value = written ?? words[++index]
    if (value === undefined) throw new NotUnderstood(`has --${name} without a value`)
    options.set(name, [...(options.get(name) ?? []), value])
  }
  const [address] = addresses
  if (address === undefined || addresses.length > 1) throw new NotUnderstood('does not have exactly one address')
  return { address, options }
}

/** Splits an address at its tag; without one the tag is `latest`. */
function targetOf(address: Symbolic): PushTarget {
  const text = address.startsWith('oci://') ? address.slice('oci://'.length) : address
  let isInside = false
  let colon = -1
  for (let index = 0; index < text.length; index++) {
    const here = text[index]
    if (here === '\0') isInside = !isInside
    else if (!isInside && here === '/') colon = -1
    else if (!isInside && here === ':') colon = index
    else if (!isInside && here === '@') throw new NotUnderstood('has a digest in the address')
  }
  return colon < 0
    ? { repository: text, tag: 'latest' }
    : { repository: text.slice(0, colon), tag: text.slice(colon + 1) }
}

/** A folder of the checkout. Throws NotUnderstood for what is not known, is a file or leads out of the checkout. */
export function folderAt(cwd: string, path: Symbolic): string {
  if (!isKnown(path)) throw new NotUnderstood(`has the unknown path ${shownText(path)}`)
  if (path === '-' || path === '') throw new NotUnderstood('reads the content from standard input')
  const inside = path === WORKSPACE || path.startsWith(`${WORKSPACE}/`) ? path.slice(WORKSPACE.length + 1) : undefined
  if (inside === undefined && /^[/~]/.test(path))
    throw new NotUnderstood(`pushes ${path}, which is outside of the checkout`)
  const whole = inside ?? `${cwd}/${path}`
  let depth = 0
  for (const part of whole.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) throw new NotUnderstood(`pushes ${path}, which is outside of the checkout`)
  }
  return artifactPath(whole)
}
