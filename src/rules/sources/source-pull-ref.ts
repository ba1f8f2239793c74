import { stringAt } from '../../kube/node.ts'
import type { Rule } from '../rule.ts'
import { shown, shownObject } from '../shown.ts'

const NAME = ['spec', 'ref', 'name']
/** Heads of changes that nobody has merged: GitHub, Gitea, GitLab, Bitbucket, Azure DevOps, Gerrit. */
const UNMERGED = /^(?:refs\/)?(?:pull|pulls|merge-requests|pull-requests|changes|for)\//i

/** A source never follows a pull request. */
export const sourcePullRef: Rule = {
  id: 'source-pull-ref',
  severity: 'critical',
  title: 'Sources do not follow pull requests',
  why: 'Whoever may open a pull request, from a fork too, writes to its head without a review. A source that follows it deploys what nobody has merged.',
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Name"',
  docs: 'Follow a branch with `spec.ref.branch`, or a commit with `spec.ref.commit`.',
  kinds: ['source.toolkit.fluxcd.io/GitRepository'],
  *checkObject({ object, id, node }, { index }) {
    const name = stringAt(object.root, NAME)
    if (name === undefined || !UNMERGED.test(name.trim()) || index.actsFor(node, object) === undefined) return
    yield {
      node,
      object,
      path: NAME,
      value: name,
      message: `${shownObject(id.kind, id.namespace, id.name)} follows ${shown(name)}, the head of a change that nobody has merged. Flux itself would let it through.`,
      fix: 'Follow the branch into which changes are merged, by spec.ref.branch.',
    }
  },
}
