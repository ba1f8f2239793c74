import { objectPart, quoted } from '../../facts/shown.ts'
import { followedBy, wordsOf } from '../../facts/source-ref.ts'
import type { Subject } from '../../facts/subject.ts'
import { isGatedBranch } from '../../fleet/config/gated-branch.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import { at, stringAt } from '../../kube/node.ts'
import { message } from '../../message/message.ts'
import type { Rule, RuleContext } from '../model/rule.ts'

/** A source takes in only what is evaluated, too. */
export const sourceInclude: Rule = {
  id: 'source-include',
  severity: 'high',
  title: 'Included source that is not evaluated',
  why: '`spec.include` copies files of another repository over those of the source. A writer of that repository can replace evaluated files, and all of them with `toPath: ./`.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Include"',
  docs: 'Include a source that the platform declares, or one on a branch of such a source or of `gatedBranches`. A source with a pinned `spec.ref.commit` is allowed too.',
  kinds: [GIT_REPOSITORY],
  *checkTenantObject(subject, context) {
    const { object, id, node } = subject
    const list = at(object.root, ['spec', 'include'])
    if (list?.type !== 'list') return
    for (const index of list.items.keys()) {
      const path = ['spec', 'include', index, 'repository', 'name']
      const name = stringAt(object.root, path)
      const what = name && ungated(subject, name, context)
      if (!what) continue
      yield {
        node,
        object,
        path,
        value: `${name} ${what}`,
        message: message`${objectPart(id.kind, id.namespace, id.name)} includes ${objectPart('GitRepository', id.namespace, name)}, which follows ${quoted('value', what)}, whose changes are not evaluated. Allowed: sources that the platform declares or that pin a commit. Flux accepts it.`,
        fix: message`Replace it with a platform source, or set spec.ref.commit of the included source.`,
      }
    }
  },
}

/** What an included source of a tenant follows, where nobody evaluates that. */
function ungated({ id, node }: Subject, name: string, { index, config }: RuleContext): string | undefined {
  const versions = index.versionsOf(node.cluster, GIT_REPOSITORY, id.namespace, name)
  if (versions.length === 0) return 'something that the fleet does not declare'
  const open = versions
    .filter(one => one.node.tenant !== undefined)
    .find(({ object }) => {
      const { url, ref } = followedBy(object, config.aliases)
      if (index.isRefused(node.cluster, id.namespace, name)) return ref.commit === undefined
      if (ref.commit || index.followerOf(url, ref) === 'platform') return false
      return ref.branch === undefined || !isGatedBranch(config, url, ref.branch)
    })
  if (!open) return undefined
  const { url, ref } = followedBy(open.object, config.aliases)
  return `${wordsOf(ref)} of ${url}`
}
