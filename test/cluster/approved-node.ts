import { digestOfTexts } from '../../src/fleet/model/same-node.ts'
import { DEFAULT_SETTINGS } from '../../src/flux/apply-settings.ts'
import type { Json } from '../../src/kube/node.ts'
import type { ApprovedNode } from '../../src/verdict/approve.ts'
import type { Approved } from '../../workers/apply/approved-nodes.ts'

/** Key of a Kustomization of the namespace `apps`. */
export const keyOf = (name: string) => `staging/apps/${name}`

/** A Kustomization of the namespace `apps` as an evaluation would approve it. */
export function approvedNode(
  user: string,
  name: string,
  objects: readonly Json[],
  more: Partial<ApprovedNode> = {},
): ApprovedNode {
  const texts = objects.map(object => JSON.stringify(object))
  return {
    key: keyOf(name),
    cluster: 'staging',
    namespace: 'apps',
    name,
    parent: null,
    user,
    impersonated: true,
    tenant: 'apps',
    source: { id: 'GitRepository/apps/apps', url: '', commit: 'c', opaque: null },
    dependsOn: [],
    suspend: false,
    prune: true,
    settings: DEFAULT_SETTINGS,
    digest: digestOfTexts(texts),
    applyDigest: digestOfTexts([user, ...texts]),
    objects: texts,
    revisionSet: 'one',
    ...more,
  }
}

/** What a run is given where exactly these nodes are approved. */
export function approvedOf(apply: readonly ApprovedNode[]): Approved {
  const nodes = apply.map(one => ({ ...one, findings: [], failures: [], hides: [], refused: [] }))
  return { nodes, evaluation: { nodes } as unknown as Approved['evaluation'], apply, held: [], fleetCommit: 'c' }
}
