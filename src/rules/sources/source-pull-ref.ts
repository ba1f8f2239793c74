import { objectPart, quoted } from '../../facts/shown.ts'
import { GIT_REPOSITORY } from '../../flux/kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { type MessagePart, message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

const NAME = ['spec', 'ref', 'name']
/** Heads of unmerged changes: GitHub, Gitea, GitLab, Bitbucket, Azure DevOps, Gerrit. */
const UNMERGED = /^(?:refs\/)?(?:pull|pulls|merge-requests|pull-requests|pipelines|changes|for)\//i

/** A source never follows a pull request. */
export const sourcePullRef: Rule = {
  id: 'source-pull-ref',
  severity: 'critical',
  title: 'Source that follows a pull request',
  why: "Anyone who can open a pull request, including from a fork, can push to its head without a review. A source that follows it deploys unmerged content, and with the platform's rights if the source belongs to the platform.",
  source: 'source-controller docs/spec/v1/gitrepositories.md, "Name"',
  docs: 'Set `spec.ref.branch` to a branch, or `spec.ref.commit` to a commit.',
  kinds: [GIT_REPOSITORY],
  *checkObject({ object, id, node }) {
    const name = stringAt(object.root, NAME)
    if (name === undefined || !UNMERGED.test(name.trim())) return
    yield { node, object, path: NAME, value: name, ...textsOf(objectPart(id.kind, id.namespace, id.name), name) }
  },
  *checkNode(node, { index }) {
    const { id, ref } = node.source
    const [, namespace = '', source = ''] = id.split('/')
    if (ref.name === undefined || !UNMERGED.test(ref.name.trim())) return
    // what a FluxInstance or the fleet's file says is rendered by nobody
    if (index.versionsOf(node.hub ?? node.cluster, GIT_REPOSITORY, namespace, source).length > 0) return
    const renderedBy = index.node(node.parent)
    yield {
      node,
      ...(renderedBy ? { renderedBy } : {}),
      object: node.kustomization,
      path: ['spec', 'sourceRef'],
      value: ref.name,
      ...textsOf(objectPart('Kustomization', node.namespace, node.name), ref.name),
    }
  },
}

function textsOf(what: MessagePart, name: string) {
  return {
    message: message`${what} follows ${quoted('branch', name)}, the head of an unmerged pull request. Allowed: a branch or a commit. Flux accepts it.`,
    fix: message`Set spec.ref.branch to the branch that pull requests are merged into.`,
  }
}
