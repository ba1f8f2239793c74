import { objectPart, quoted } from '../../facts/shown.ts'
import { groupOf, type idOf } from '../../kube/object.ts'
import { type Message, message } from '../../message/message.ts'
import type { Rule } from '../model/rule.ts'

/** Lists that Kubernetes itself knows: they say what is in them. */
const PLAIN = new Set(['List', 'ResourceList'])

/** Objects that stand in a list are applied like any others, so the list must not hide what they are. */
export const embeddedItems: Rule = {
  id: 'embedded-items',
  severity: 'high',
  title: 'Objects in a list of another kind',
  why: 'kustomize replaces every object whose kind ends in `List` by its items. Flux does so for every object with a list in `items`. A reviewer who reads the list as one object overlooks the objects in it.',
  source: 'kustomize api/resource/factory.go (inlineAnyEmbeddedLists), fluxcd/pkg ssa (ReadObjects)',
  docs: 'Write each object as a separate document. Allowed: `kind: List` of `apiVersion: v1`, and a list named after the kind of its items (`RoleBindingList` of RoleBindings). A list in a list is not allowed.',
  kinds: 'every',
  *checkTenantObject({ object, id, node }) {
    const { listing } = object
    if (!listing) return
    const says = problem(listing, id)
    if (says === undefined) return
    yield {
      node,
      object,
      path: [],
      value: `${listing.apiVersion} ${listing.kind}${listing.isNested ? ' nested' : ''}`,
      message: message`${objectPart(id.kind, id.namespace, id.name)} is in ${says}, and Flux applies it like any other object. Allowed: separate documents, or a List of apiVersion v1.`,
      fix: message`Write the object as a separate document.`,
    }
  },
}

function problem(
  listing: { readonly apiVersion: string; readonly kind: string; readonly isNested: boolean },
  id: ReturnType<typeof idOf>,
): Message | undefined {
  const list = message`a ${quoted('object', listing.kind)} of ${quoted('object', listing.apiVersion)}`
  if (listing.isNested) return message`${list} that is itself in a list`
  if (PLAIN.has(listing.kind)) {
    const known = listing.apiVersion === 'v1' || listing.apiVersion.startsWith('config.kubernetes.io/')
    return known ? undefined : message`${list}, which is not a Kubernetes list kind`
  }
  // tools write lists of any kind under v1
  const isOfGroup = listing.apiVersion === 'v1' || groupOf(listing.apiVersion) === groupOf(id.apiVersion)
  const isOfKind = listing.kind === `${id.kind}List` && isOfGroup
  return isOfKind ? undefined : message`${list}, which is a list kind of other objects`
}
