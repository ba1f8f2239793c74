import type { FleetIndex } from '../../../facts/fleet-index.ts'
import type { Naming } from '../../../facts/naming.ts'
import { includedBy, sourceText, TAKING_FIELDS, takenBy } from '../../../facts/source-takers.ts'
import { GIT_REPOSITORY, HELM_RELEASE } from '../../../flux/kinds.ts'
import { idOf, type KubeObject, type ObjectId } from '../../../kube/object.ts'

const TAKEN: Naming = { id: 'takes from', of: ({ object }) => takenBy(object) }
const INCLUDED: Naming = { id: 'includes', of: ({ object }) => includedBy(object) }

/** The objects of the source's namespace, and of the tenant's, that deploy from it or take it into another source. */
export function takersOf(index: FleetIndex, cluster: string, tenant: string, source: ObjectId): readonly KubeObject[] {
  const text = sourceText(source)
  const includers = index.found(cluster, GIT_REPOSITORY, source.namespace, INCLUDED, source.name)
  const takers = [...TAKING_FIELDS.keys()].flatMap(kind => index.foundAnywhere(cluster, kind, TAKEN, text))
  const theirs = takers.filter(({ object }) => {
    const { namespace } = idOf(object)
    return namespace === source.namespace || index.owns(cluster, tenant, namespace)
  })
  return [...includers, ...theirs].map(({ object }) => object)
}

/** Whether a source holds a chart and nothing else: releases take it, and nothing that deploys its content as it is. */
export function feedsReleasesOnly(index: FleetIndex, cluster: string, source: ObjectId): boolean {
  const text = sourceText(source)
  const taking = [...TAKING_FIELDS.keys()].filter(kind => index.foundAnywhere(cluster, kind, TAKEN, text).length > 0)
  return taking.length > 0 && taking.every(kind => kind === HELM_RELEASE)
}
