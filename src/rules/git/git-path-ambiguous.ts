import type { EvaluatedRepository } from '../../facts/evaluated-repository.ts'
import { quoted } from '../../facts/shown.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, Violation } from '../model/rule.ts'
import { violationIn } from './support/in-repository.ts'
import { type RenderedDirectory, renderedDirectories } from './support/rendered-tree.ts'

/** Names of files that are rendered mean one file, to every program and file system. */
export const gitPathAmbiguous: Rule = {
  id: 'git-path-ambiguous',
  severity: 'high',
  title: 'Ambiguous file name',
  why: 'Two names that differ only in case or Unicode normalization are one file on macOS and Windows. Terminals, CI logs and command lines interpret line breaks, escape sequences and leading dashes in names. A reviewer then sees another tree than Flux deploys.',
  source: 'CVE-2014-9390, CVE-2021-41254',
  docs: 'Use letters, digits, dots, dashes and underscores in file names, and use each name once. The rule covers deployed files, and names anywhere that hide their content.',
  *checkRepository(repository) {
    for (const directory of renderedDirectories(repository)) {
      yield* oddNames(repository, directory)
      yield* collisions(repository, directory)
    }
  },
}

/** Where nothing is rendered, below the root, only names that hide what they are: whoever lists or reviews the tree sees them. */
function* oddNames(
  repository: EvaluatedRepository,
  { path, facts, readerOf }: RenderedDirectory,
): Generator<Violation> {
  for (const { entry, problem, hides } of facts.odd) {
    const reader = readerOf(entry)
    const node = reader ?? repository.nodes[0]
    if (!node || !(reader || hides || path === '')) continue
    yield violationIn(repository, node, entry.path, {
      value: entry.path,
      message: message`${quoted('path', entry.path)} ${untyped(problem)}, so reviewers can see another file than Flux deploys. Allowed: letters, digits, dots, dashes and underscores.`,
      fix: message`Rename the file.`,
    })
  }
}

function* collisions(repository: EvaluatedRepository, { facts, readerOf }: RenderedDirectory): Generator<Violation> {
  for (const [other, entry] of facts.collisions) {
    const node = readerOf(entry) ?? readerOf(other)
    if (!node) continue
    yield violationIn(repository, node, entry.path, {
      value: `${other.path} ${entry.path}`,
      message: message`${quoted('path', other.path)} and ${quoted('path', entry.path)} are one file on file systems that ignore case or Unicode normalization (macOS, Windows): a checkout contains only one of them. Allowed: names that differ in more.`,
      fix: message`Rename or remove one of the files.`,
    })
  }
}
