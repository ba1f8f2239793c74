import { shown, shownObject } from '../../facts/shown.ts'
import { type Path, stringAt } from '../../kube/node.ts'
import type { Rule } from '../model/rule.ts'

const GIT_REPOSITORY = 'source.toolkit.fluxcd.io/GitRepository'
const AUTOMATION = 'image.toolkit.fluxcd.io/ImageUpdateAutomation'

const FIELDS = ['branch', 'tag', 'name', 'semver']
const REFS: Readonly<Record<string, readonly Path[]>> = {
  [GIT_REPOSITORY]: [['spec', 'ref']],
  [AUTOMATION]: [
    ['spec', 'git', 'checkout', 'ref'],
    ['spec', 'git', 'push'],
  ],
}
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i

/** What a source follows has one meaning. */
export const gitRefAmbiguous: Rule = {
  id: 'git-ref-ambiguous',
  severity: 'high',
  title: 'Ambiguous Git ref',
  why: 'Programs resolve a branch that is named like a commit, or a tag named `refs/heads/main`, to different commits. The reviewed commit is then not the deployed one. A shell script can run a ref name with shell characters as a command.',
  source: 'gitrevisions(7)',
  docs: 'Set `spec.ref.branch` or `spec.ref.tag` to a short name, `spec.ref.commit` to a commit, and `spec.ref.name` to the full name of any other ref.',
  kinds: [GIT_REPOSITORY, AUTOMATION],
  *checkObject({ object, id, kind, node }) {
    for (const ref of REFS[kind] ?? []) {
      for (const field of FIELDS) {
        const path = [...ref, field]
        const text = stringAt(object.root, path)
        // a variable that is still there is the matter of other rules
        const problem = text && !text.includes('${') ? problemOf(field, text) : undefined
        if (problem === undefined) continue
        yield {
          node,
          object,
          path,
          value: text!,
          message: `${shown(path.join('.'))} of ${shownObject(id.kind, id.namespace, id.name)} is ${shown(text!)}, which ${problem}.`,
          fix: 'Follow a branch or a tag by its own, short name, and a commit by spec.ref.commit.',
        }
      }
    }
  },
}

function problemOf(field: string, text: string): string | undefined {
  if (COMMIT.test(text)) return 'is named like a commit'
  if (/^-/.test(text)) return 'begins with a dash, so that programs take it for an option'
  if (field === 'semver') return undefined
  if (/[\0-\x20\x7f`$;&|<>"'\\()*?[~^:]|\.\.|@\{/.test(text))
    return 'holds characters that git or shells give a meaning'
  if (field === 'name') {
    return text.startsWith('refs/') || text === 'HEAD'
      ? undefined
      : 'is no full name of a ref: it would begin with refs/'
  }
  if (/^refs\//.test(text)) return 'is a full name where a short one belongs: a ref of refs/ in refs/'
  return /^(?:HEAD|FETCH_HEAD|ORIG_HEAD|MERGE_HEAD|@)$/.test(text) ? 'means the ref that is checked out' : undefined
}
