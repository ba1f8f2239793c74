import { hashOf } from '../../facts/fingerprint.ts'
import type { FleetIndex } from '../../facts/fleet-index.ts'
import { kindOf } from '../../facts/kind-of.ts'
import { identityPart, objectPart, shown } from '../../facts/shown.ts'
import { accountOf, applierKinds } from '../../fleet/model/appliers.ts'
import type { FleetNode, Identity } from '../../fleet/model/fleet.ts'
import { GIT_REPOSITORY, KUSTOMIZATION } from '../../flux/kinds.ts'
import { type EmbeddedObjects, embeddedIn, type Unevaluated } from '../../kube/capabilities/embedded-objects.ts'
import { at, canonical } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import { accountOf as partsOfUser, userOfAccount } from '../../kube/rbac/groups-of.ts'
import { message, untyped } from '../../message/message.ts'
import type { Rule, RuleContext, Violation } from '../model/rule.ts'
import { applierOf } from './support/embedded-subject.ts'

/** Objects that controllers make for a tenant are evaluated, or it is said that they are not. */
export const embeddedContent: Rule = {
  id: 'embedded-content',
  severity: 'high',
  title: 'Objects from a controller that cannot be evaluated',
  why: 'A controller that creates objects from another object applies them with its own rights or as a named account. A template, a chart or content of another source can contain any object. Reviewers do not see it before it is applied.',
  source: 'CVE-2026-22872, CVE-2025-55205; the APIs of the kinds in src/kube/capabilities/embeddings.ts',
  docs: "Write the objects as plain manifests, without placeholders, in the tenant's repository. The finding is a warning where the fleet's RBAC confines the applying account to the tenant's namespaces. It is a violation where the controller uses its own rights or an account with more rights.",
  kinds: 'every',
  *checkTenantObject({ object, node }, context) {
    const embedded = embeddedIn(object)
    for (const one of embedded.unevaluated) yield violationOf(node, context, one)
    for (const { holder, path } of unfollowed(embedded)) yield notFollowed(node, context, holder, path)
  },
}

/** Kustomizations and sources that a controller makes are no part of the graph. */
function unfollowed({ objects }: EmbeddedObjects) {
  return objects
    .filter(({ object }) => kindOf(object) === KUSTOMIZATION || kindOf(object) === GIT_REPOSITORY)
    .map(({ object }) => ({ holder: object, path: ['spec'] }))
}

const WHY: Readonly<Record<Exclude<Unevaluated['why'], 'content'>, string>> = {
  template: 'a template with placeholders, which are not filled in here',
  text: 'a text that is not a list of objects',
  depth: 'nested deeper than objects are followed (render-limits)',
}

function violationOf(node: FleetNode, { index }: RuleContext, one: Unevaluated): Violation {
  const { holder, path, place, why } = one
  const identity = applierOf(index, node.cluster, one)
  const what = why === 'content' ? (place.says ?? 'content') : WHY[why]
  return violation(node, index, { holder, path, what, identity, isDeep: why === 'depth' })
}

function notFollowed(
  node: FleetNode,
  { index }: RuleContext,
  holder: EmbeddedObjects['objects'][number]['object'],
  path: Violation['path'],
): Violation {
  const { namespace } = idOf(holder)
  if (kindOf(holder) === GIT_REPOSITORY) return notRead(node, holder, path)
  const account = applierKinds.includes(kindOf(holder))
    ? accountOf(holder, index.cluster(node.cluster)?.lockdown)
    : undefined
  const identity = account
    ? { user: userOfAccount(namespace, account), impersonated: true }
    : { user: 'the controller of Kustomization', impersonated: false }
  const what = 'what a Kustomization renders that a controller makes'
  return violation(node, index, { holder, path, what, identity, isDeep: false })
}

/** Who deploys from it is reported by itself. */
function notRead(node: FleetNode, object: Found['holder'], path: Violation['path']): Violation {
  const { kind, namespace, name } = idOf(object)
  const what = 'the content of a source that a controller makes'
  return {
    node,
    object,
    path,
    value: contentValue(what, object, path),
    level: 'warning',
    message: message`${objectPart(kind, namespace, name)}: ${what} is not evaluated, including everything deployed from it. Allowed: a source in a manifest.`,
    fix: message`Write the GitRepository in a separate manifest.`,
  }
}

/** Other content is another finding. */
function contentValue(what: string, object: Found['holder'], path: Violation['path']): string {
  const node = at(object.root, path)
  return `${what} ${node ? hashOf([canonical(node)]) : ''}`
}

interface Found {
  readonly holder: Unevaluated['holder']
  readonly path: Violation['path']
  readonly what: string
  readonly identity: Identity
  readonly isDeep: boolean
}

function violation(node: FleetNode, index: FleetIndex, { holder, path, what, identity, isDeep }: Found): Violation {
  const { kind, namespace, name } = idOf(holder)
  const further = reachOf(node, index, identity)
  const confined = further ?? "which the fleet's RBAC confines to the tenant's namespaces"
  return {
    node,
    object: holder,
    path,
    value: contentValue(what, holder, path),
    level: isDeep ? 'error' : further === undefined ? 'warning' : 'violation',
    message: message`${objectPart(kind, namespace, name)}: ${untyped(what)} is not evaluated. It is applied by ${identityPart(identity)}${further === '' ? '' : message`, ${untyped(confined)}`}. Allowed: objects in manifests.`,
    fix: message`Write the objects in separate manifests, without placeholders.`,
  }
}

/** Why whoever applies something may do more than the tenant; undefined: it is confined. */
function reachOf(node: FleetNode, index: FleetIndex, identity: Identity): string | undefined {
  const account = identity.impersonated ? partsOfUser(identity.user) : undefined
  if (!account || node.tenant === undefined) return ''
  const reach = index.reachOutside(node.cluster, node.tenant, account.namespace, account.name)
  return reach && `which is not confined to the tenant's namespaces: ${shown(reach).slice(1, -1)}`
}
