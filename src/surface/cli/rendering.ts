import { realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { Document, type Scalar, visit } from 'yaml'
import { BailiwickError } from '../../base/errors.ts'
import { diskTree } from '../../git/folder-tree.ts'
import { isWorkingCopy } from '../../git/working-copy.ts'
import type { Node } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import { build } from '../../kustomize/pipeline/build.ts'

export interface DirectoryRendering {
  readonly objects: readonly KubeObject[]
  /** How to show the path of a file: relative to the given root, else to the working directory. */
  readonly show: (file: string) => string
}

interface Place {
  /** Absolute paths. */
  readonly directory: string
  readonly root?: string
  readonly cwd: string
}

/**
 * Builds a directory of this machine. It may read below `root`; without one, below the top of the git working copy
 * around it; outside of any, as far up as its own paths lead (kustomize without load restrictions). Reads only what is
 * needed. Throws `usage`, `git-missing` and what a build throws, with places formatted by `show`.
 */
export async function renderDirectory({ directory, root, cwd }: Place): Promise<DirectoryRendering> {
  const real = await existing(directory)
  const named = root === undefined ? undefined : await existing(root)
  const limit = named ?? (await workingCopyOf(real)) ?? '/'
  const from = named === undefined && limit === '/' ? real : limit
  const base = named ?? (await realpath(cwd))
  return climb(real, from, limit, base)
}

function climb(directory: string, from: string, limit: string, base: string): DirectoryRendering {
  for (let root = from; ; root = dirname(root)) {
    const show = (file: string): string => relative(base, join(root, file)) || '.'
    try {
      return { objects: build(diskTree(root), '', directoryBelow(root, directory)), show }
    } catch (error) {
      if (!(error instanceof BailiwickError)) throw error
      if (error.rule !== 'kustomize-path-escape' || root === limit || root === dirname(root)) throw shown(error, show)
    }
  }
}

function shown(error: BailiwickError, show: (file: string) => string): BailiwickError {
  if (!error.origin) return error
  const { code, message, origin } = error
  return new BailiwickError(code, message, { ...error, origin: { ...origin, file: show(origin.file) }, cause: error })
}

/** `directory` as a path below `root` ('' for the root itself). Throws `usage` if it is not below. */
function directoryBelow(root: string, directory: string): string {
  const path = relative(root, directory)
  if (path !== '..' && !path.startsWith(`..${sep}`)) return path.split(sep).join('/')
  throw new BailiwickError('usage', `${directory} is not below ${root}`, {
    fix: 'Name a root that holds the directory.',
  })
}

/** The folder with links resolved, because a person may name it through a link. */
async function existing(directory: string): Promise<string> {
  const found = await stat(directory).catch((cause: unknown) => {
    if (cause instanceof Error && 'code' in cause) return undefined
    throw cause
  })
  if (found?.isDirectory()) return realpath(directory)
  throw new BailiwickError('git-missing', `${directory} is not a folder`, { fix: 'Name an existing folder.' })
}

async function workingCopyOf(directory: string): Promise<string | undefined> {
  for (let folder = directory; ; folder = dirname(folder)) {
    if (await isWorkingCopy(folder)) return folder
    if (folder === dirname(folder)) return undefined
  }
}

/** Plain values of a node in which no integer is rounded. */
export type Exact = string | number | bigint | boolean | null | Exact[] | { [key: string]: Exact }

/** The values of a node, keys in its order; an integer beyond 2^53 is a bigint. */
export function exactOf(node: Node): Exact {
  if (node.type === 'list') return node.items.map(exactOf)
  if (node.type === 'scalar') return fits(node.value) ? Number(node.value) : node.value
  const object: { [key: string]: Exact } = Object.create(null)
  for (const [key, field] of node.fields) object[key] = exactOf(field.value)
  return object
}

const fits = (value: unknown): boolean =>
  typeof value === 'bigint' && BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))

// in the language, but not yet in lib.es2024
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

/** JSON text with exact integers. */
export function exactJson(value: Exact, indent?: number): string {
  return JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? rawJSON(String(inner)) : inner), indent)
}

/** Characters on which YAML readers disagree, or fail, unless they are escaped. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/
const EVERY_UNSAFE = new RegExp(UNSAFE, 'g')

/** Documents as YAML that every reader, old ones too, reads alike; separated by `---`. */
export function yamlText(documents: readonly Exact[]): string {
  return documents.map(oneDocument).join('---\n')
}

function oneDocument(value: Exact): string {
  const document = new Document(value, { version: '1.1' })
  visit(document, { Scalar: (_key, scalar) => quoteUnsafe(scalar) })
  // double quotes allow escapes, and nothing unsafe is left outside of them
  return document
    .toString({ lineWidth: 0 })
    .replace(EVERY_UNSAFE, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function quoteUnsafe(scalar: Scalar): void {
  if (typeof scalar.value === 'string' && UNSAFE.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
}
