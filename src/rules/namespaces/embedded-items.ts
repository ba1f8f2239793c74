import { shown, shownObject } from '../../facts/shown.ts'
import { groupOf, type idOf } from '../../kube/object.ts'
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
      message: `${shownObject(id.kind, id.namespace, id.name)} is in ${says}, and Flux applies it like any other object. Allowed: separate documents, or a List of apiVersion v1.`,
      fix: 'Write the object as a separate document.',
    }
  },
}

function problem(
  listing: { readonly apiVersion: string; readonly kind: string; readonly isNested: boolean },
  id: ReturnType<typeof idOf>,
): string | undefined {
  const list = `a ${shown(listing.kind)} of ${shown(listing.apiVersion)}`
  if (listing.isNested) return `${list} that is itself in a list`
  if (PLAIN.has(listing.kind)) {
    const known = listing.apiVersion === 'v1' || listing.apiVersion.startsWith('config.kubernetes.io/')
    return known ? undefined : `${list}, which is not a Kubernetes list kind`
  }
  // tools write lists of any kind under v1
  const isOfGroup = listing.apiVersion === 'v1' || groupOf(listing.apiVersion) === groupOf(id.apiVersion)
  const isOfKind = listing.kind === `${id.kind}List` && isOfGroup
  return isOfKind ? undefined : `${list}, which is a list kind of other objects`
}
