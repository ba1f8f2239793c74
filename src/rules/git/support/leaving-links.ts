import type { EvaluatedRepository } from '../../../facts/evaluated-repository.ts'
import { quoted } from '../../../facts/shown.ts'
import type { Tree } from '../../../git/tree.ts'
import { message } from '../../../message/message.ts'
import type { Violation } from '../../model/rule.ts'
import { violationIn } from './in-repository.ts'
import { renderedDirectories } from './rendered-tree.ts'

/** As Linux does; whatever is beyond leads out. */
const MAX_LINKS = 40
const MAX_TARGET = 4096

/** Links in what is rendered that point out of the repository, whether or not an overlay names them. */
export function* leavingLinks(repository: EvaluatedRepository): Generator<Violation> {
  for (const { facts, readerOf } of renderedDirectories(repository)) {
    for (const entry of facts.links) {
      const reader = readerOf(entry)
      if (!reader || !leaves(repository.tree, entry.path)) continue
      const target = targetOf(repository.tree, entry.path)
      yield violationIn(repository, reader, entry.path, {
        value: `${entry.path} -> ${target}`,
        message: message`${quoted('path', entry.path)} is a symbolic link to ${quoted('path', target)}, which is outside the repository. Allowed: links inside the repository. Flux ignores the link, but other programs would read a file of their own machine.`,
        fix: message`Remove the link, or replace it with the file.`,
      })
    }
  }
}

const targetOf = (tree: Tree, path: string): string => Buffer.from(tree.read(path)).toString('utf8')

function leaves(tree: Tree, link: string): boolean {
  let path = link
  for (let hops = 0; hops < MAX_LINKS; hops++) {
    const next = follow(path.slice(0, Math.max(0, path.lastIndexOf('/'))), targetOf(tree, path))
    if (next === undefined) return true
    const through = linkIn(tree, next)
    if (through === undefined) return false
    const rest = next.slice(through.length)
    if (rest === '') path = through
    else {
      const target = follow(through.slice(0, Math.max(0, through.lastIndexOf('/'))), targetOf(tree, through) + rest)
      if (target === undefined) return true
      if (tree.entry(target)?.type !== 'symlink') return false
      path = target
    }
  }
  return true
}

/** The path that a target means; undefined outside of the repository. */
function follow(directory: string, target: string): string | undefined {
  if (target.length > MAX_TARGET) return undefined
  if (target.startsWith('/') || /^[A-Za-z]:/.test(target) || target.startsWith('\\')) return undefined
  const parts = directory === '' ? [] : directory.split('/')
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) return undefined
  }
  return parts.join('/')
}

/** The first link on the way to a path, or at its end. */
function linkIn(tree: Tree, path: string): string | undefined {
  for (let end = path.indexOf('/'); ; end = path.indexOf('/', end + 1)) {
    const part = end < 0 ? path : path.slice(0, end)
    if (tree.entry(part)?.type === 'symlink') return part
    if (end < 0) return undefined
  }
}
