import type { FleetNode } from '../../fleet/fleet.ts'
import type { JudgedRepository } from '../judged-repository.ts'
import type { Breach, Rule } from '../rule.ts'
import { shown } from '../shown.ts'
import { breachIn } from './in-repository.ts'
import { disguiseIn, problemOf } from './path-problem.ts'
import { type RenderedDirectory, type RenderedEntry, renderedDirectories } from './rendered-tree.ts'

/** Names of files that are rendered mean one file, to every program and file system. */
export const gitPathAmbiguous: Rule = {
  id: 'git-path-ambiguous',
  severity: 'high',
  title: 'Names of files mean one file to everybody',
  why: `Two names that differ only in case or in how an accent is written are one file on macOS and Windows. A name with a line break, an escape sequence or a leading dash is an order to a terminal, a CI log or a command line rather than a file. Who reviews then sees another tree than the one that is deployed.`,
  source: 'CVE-2014-9390, CVE-2021-41254',
  docs: `Name files with letters, digits, dots, dashes and underscores, each name once. Only what is deployed is looked at, and names anywhere that hide what they are.`,
  *checkRepository(repository) {
    const rendered = new Set<string>()
    for (const directory of renderedDirectories(repository)) {
      rendered.add(directory.path)
      yield* oddNames(repository, directory)
      yield* collisions(repository, directory)
    }
    const [first] = repository.nodes
    if (first) yield* disguises(repository, first, rendered)
  },
}

function* oddNames(repository: JudgedRepository, { path, entries }: RenderedDirectory): Generator<Breach> {
  const [first] = repository.nodes
  for (const { entry, reader } of entries) {
    const node = reader ?? first!
    const problem = reader || path === '' ? problemOf(entry.name) : disguiseIn(entry.name)
    if (problem === undefined) continue
    yield oddName(repository, node, entry.path, problem)
  }
}

function oddName(repository: JudgedRepository, node: FleetNode, path: string, problem: string): Breach {
  return breachIn(repository, node, path, {
    value: path,
    message: `${shown(path)} ${problem}: who reviews it, checks it out or lists it may see another file than the one that is deployed.`,
    fix: 'Rename it.',
  })
}

/** Elsewhere in the repository only names that hide what they are: whoever lists or reviews it sees those, too. */
function* disguises(repository: JudgedRepository, node: FleetNode, rendered: ReadonlySet<string>): Generator<Breach> {
  const queue = ['']
  for (let directory = queue.pop(); directory !== undefined; directory = queue.pop()) {
    for (const entry of repository.tree.list(directory)) {
      if (entry.type === 'directory') queue.push(entry.path)
      const problem = rendered.has(directory) ? undefined : disguiseIn(entry.name)
      if (problem !== undefined) yield oddName(repository, node, entry.path, problem)
    }
  }
}

function* collisions(repository: JudgedRepository, { entries }: RenderedDirectory): Generator<Breach> {
  const seen = new Map<string, RenderedEntry>()
  for (const one of entries) {
    const name = one.entry.name.normalize('NFC').toLowerCase().normalize('NFC')
    const other = seen.get(name)
    const node = one.reader ?? other?.reader
    if (other === undefined) seen.set(name, one)
    else if (node) {
      const pair = [other.entry.path, one.entry.path]
      yield breachIn(repository, node, one.entry.path, {
        value: pair.join(' '),
        message: `${shown(pair[0]!)} and ${shown(pair[1]!)} are one file where names are compared without regard to case or accents (macOS, Windows): only one of them is there after a checkout.`,
        fix: 'Keep one of them.',
      })
    }
  }
}
