import { isOfKind } from '../../flux/flux-object.ts'
import { GIT_REPOSITORY, OCI_REPOSITORY } from '../../flux/kinds.ts'
import { canonical, originAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import type { FleetNode } from '../model/fleet.ts'
import { type AskedRepository, NOT_READABLE } from '../model/read-access.ts'
import { chartReaderKey, followerKey, readerKey, type SourceDeclaration } from '../model/source-access.ts'
import { addressOfSource, askRead, type ReadContext } from './ask-read.ts'
import type { SourceIndex } from './source-index.ts'

/** What one cluster declares about its sources. */
export interface ClusterAccess {
  readonly platform: readonly string[]
  readonly declarations: readonly SourceDeclaration[]
  readonly follows: readonly (readonly [node: string, source: string])[]
  readonly charts: readonly string[]
  readonly asked: readonly AskedRepository[]
}

/** Takes down what a walked cluster declares; `fleet`: address of the fleet's own repository, which the platform always reads. */
export function collectAccess(
  view: ReadContext,
  index: SourceIndex,
  nodes: readonly FleetNode[],
  fleet: string,
): ClusterAccess {
  const platform = new Set([readerKey('', fleet)])
  const asked: AskedRepository[] = []
  const declarations: SourceDeclaration[] = []
  const own = new Map<string, string>()
  for (const [id, { object, node }] of index.all()) {
    const url = addressOfSource(view.config, object)
    const { namespace } = idOf(object)
    const isGit = isOfKind(object, GIT_REPOSITORY)
    if (url === undefined || !(isGit || isOfKind(object, OCI_REPOSITORY))) continue
    const owner = view.owners.get(namespace)
    const { tenant } = node
    if (tenant === undefined) {
      platform.add(readerKey('', url))
      if (owner !== undefined) platform.add(readerKey(owner, url))
    }
    if (!isGit) continue
    if (tenant === undefined) own.set(id, url)
    const reader = tenant ?? owner
    const decision = askRead(view, { tenant: reader, writer: tenant }, object, url)
    if (decision.state === 'ask' && tenant !== undefined) asked.push({ url, people: decision.people })
    declarations.push({
      cluster: view.cluster,
      ...{ id, url, node: node.key, ...(tenant === undefined ? {} : { tenant }) },
      origin: originAt(object.root, ['spec', 'url']),
      text: canonical(object.root),
      refused: tenant !== undefined && decision.state === 'refused',
    })
  }
  for (const [id, object] of index.byHand) {
    const url = addressOfSource(view.config, object)
    const owner = view.owners.get(idOf(object).namespace)
    if (url === undefined || !isOfKind(object, GIT_REPOSITORY)) continue
    if (!own.has(id)) own.set(id, url)
    platform.add(readerKey('', url))
    if (owner !== undefined) platform.add(readerKey(owner, url))
  }
  const platforms = new Set(nodes.flatMap(node => (node.tenant === undefined ? [node.key] : [])))
  for (const { tenant, parent, source } of nodes) {
    if (parent !== undefined && !platforms.has(parent)) continue
    for (const { id, url } of [source, ...(source.includes ?? [])]) {
      if (url !== '' && (own.get(id) === url || url === fleet)) platform.add(followerKey(tenant ?? '', url))
    }
  }
  const follows = nodes.map(({ key, source }) => [key, source.id] as const)
  const charts = nodes.flatMap(({ tenant = '', charts = [] }) =>
    charts
      .filter(({ opaque }) => opaque === NOT_READABLE)
      .flatMap(({ id, url }) =>
        [tenant, view.owners.get(id.split('/')[1]!) ?? ''].map(owner => chartReaderKey(view.cluster, owner, url)),
      ),
  )
  return { platform: [...platform], declarations, follows, charts, asked }
}
