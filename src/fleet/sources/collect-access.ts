import { isOfKind } from '../../flux/flux-object.ts'
import { GIT_REPOSITORY, OCI_REPOSITORY } from '../../flux/kinds.ts'
import { canonical, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { FleetNode } from '../model/fleet.ts'
import { type AskedRepository, factKey, NOT_READABLE } from '../model/read-access.ts'
import {
  chartReaderKey,
  declarationKey,
  followerKey,
  readerKey,
  type SourceDeclaration,
} from '../model/source-access.ts'
import { addressOfSource, adoption, askRead, factsOf, type ReadContext } from './ask-read.ts'
import { askedBy } from './decide-read.ts'
import { sourceRefOf } from './resolve-source.ts'
import type { RenderedSource, SourceIndex } from './source-index.ts'

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
    declarations.push(declarationOf(view, [id, url], { object, node }, tenant ?? owner, asked))
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

/** What a GitRepository declares; what has to be known before that can be decided is added to `asked`. */
function declarationOf(
  view: ReadContext,
  [id, url]: readonly [string, string],
  { object, node }: RenderedSource,
  reader: string | undefined,
  asked: AskedRepository[],
): SourceDeclaration {
  const { tenant } = node
  const decision = askRead(view, { tenant: reader, writer: tenant }, object, url)
  if (decision.state === 'ask' && tenant !== undefined) asked.push(askedBy(url, decision))
  const declaration = {
    cluster: view.cluster,
    ...{ id, url, node: node.key, ...(tenant === undefined ? {} : { tenant }) },
    origin: originAt(object.root, ['spec', 'url']),
    text: canonical(object.root),
    refused: tenant !== undefined && decision.state === 'refused',
  }
  if (tenant === undefined || decision.state !== 'read' || decision.lent) return declaration
  const gate = gateOf(view, declaration, object)
  if (typeof gate === 'object') asked.push(gate)
  const isAdopted = adoption(view, object, id, url) === true
  return { ...declaration, ...(isAdopted ? { adopted: true } : {}), ...(gate === true ? { gated: true } : {}) }
}

/**
 * Whether the branch of a new source of a tenant requires our check by GitHub's rules, or what is asked for that; undefined
 * where nobody needs to know.
 */
function gateOf({ cluster, config, given }: ReadContext, { id, url, text }: SourceDeclaration, object: KubeObject) {
  const isKnown = given.base?.declarations.get(declarationKey(cluster, id))?.text === text
  if (config.tenantSources !== 'gated' || !given.base || isKnown) return undefined
  const { branch } = stringAt(object.root, ['spec', 'ref', 'commit']) ? {} : sourceRefOf(object)
  if (branch === undefined) return undefined
  const question = { url, branch }
  return factsOf(given).get(factKey(question))?.gated ?? { ...question, people: false }
}
