import { BailiwickError } from '../../errors.ts'
import type { Tree } from '../../git/tree.ts'
import { decodeText } from '../../kube/yaml/decode-text.ts'

/** A file that a tenant lacks, or that lacks something. */
export interface CompletionFile {
  readonly path: string
  /** Its whole text. */
  readonly content: string
  /** The lines that are added. Of a new file: all of it. */
  readonly added: readonly string[]
  /** The line (from 1) after which they are added; 0: the file is new. */
  readonly after: number
}

/** Text at the end of a file, which may be new. */
export function addedTo(tree: Tree, path: string, text: string): CompletionFile {
  if (tree.entry(path) === undefined) return { path, content: text, added: linesOf(text), after: 0 }
  const old = textOf(tree, path)
  return editOf(path, old, `${old.endsWith('\n') ? old : `${old}\n`}${text}`)
}

/** A file with lines added in one place. Throws `onboard-layout` for every other change. */
export function editOf(path: string, old: string, content: string): CompletionFile {
  const [before, now] = [linesOf(old), linesOf(content)]
  let after = 0
  while (after < before.length && before[after] === now[after]) after++
  const rest = before.slice(after)
  const added = now.slice(after, now.length - rest.length)
  const isSame = [...before.slice(0, after), ...added, ...rest].join('\n') === now.join('\n')
  if (isSame && after > 0) return { path, content, added, after }
  throw new BailiwickError('onboard-layout', `${path}: its list is not written in lines`, {
    fix: 'Write each item on a line of its own.',
  })
}

/** The text of a file. Throws for what is none. */
export function textOf(tree: Tree, path: string): string {
  if (tree.entry(path)?.type === 'file') return decodeText({ repository: '', path }, tree.read(path))
  throw new BailiwickError('onboard-layout', `${path} is not a file`, { fix: 'Commit it as a file.' })
}

const linesOf = (text: string) => text.replace(/\n$/, '').split('\n')
