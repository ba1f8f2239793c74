import { objectPart, quoted } from '../../facts/shown.ts'
import { GIT_REPOSITORY, IMAGE_UPDATE_AUTOMATION } from '../../flux/kinds.ts'
import { type Path, stringAt } from '../../kube/node.ts'
import { codeWord, message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

const FIELDS = ['branch', 'tag', 'name', 'semver']
const REFS: Readonly<Record<string, readonly Path[]>> = {
  [GIT_REPOSITORY]: [['spec', 'ref']],
  [IMAGE_UPDATE_AUTOMATION]: [
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
  docs: 'Set `spec.ref.branch` or `spec.ref.tag` to a short name, and `spec.ref.commit` to a commit. Any other ref is named in full in `spec.ref.name`.',
  kinds: [GIT_REPOSITORY, IMAGE_UPDATE_AUTOMATION],
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
          message: message`${quoted('field', path.join('.'))} of ${objectPart(id.kind, id.namespace, id.name)} is ${quoted('value', text!)}, which ${problem}. Allowed: the short name of a branch or tag, or a commit in ${codeWord('spec.ref.commit')}.`,
          fix: message`Set ${codeWord('spec.ref.branch')} or ${codeWord('spec.ref.tag')} to the short name, or ${codeWord('spec.ref.commit')} to the commit.`,
        }
      }
    }
  },
}

function problemOf(field: string, text: string) {
  if (COMMIT.test(text)) return 'is named like a commit'
  if (/^-/.test(text)) return 'begins with a dash, so programs read it as an option'
  if (field === 'semver') return undefined
  if (/[\0-\x20\x7f`$;&|<>"'\\()*?[~^:]|\.\.|@\{/.test(text)) return 'contains characters that git or shells interpret'
  if (field === 'name') {
    return text.startsWith('refs/') || text === 'HEAD' ? undefined : 'is not a full ref name, which begins with refs/'
  }
  if (/^refs\//.test(text)) return 'is a full ref name where a short name is expected'
  return /^(?:HEAD|FETCH_HEAD|ORIG_HEAD|MERGE_HEAD|@)$/.test(text) ? 'is a symbolic ref of git' : undefined
}
