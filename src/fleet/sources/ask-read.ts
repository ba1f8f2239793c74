import { oncePer } from '../../base/once-per.ts'
import { isOfKind } from '../../flux/references.ts'
import { GIT_REPOSITORY, OCI_REPOSITORY } from '../../kube/flux-kinds.ts'
import { canonical, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { matchesSource } from '../config/declared-settings.ts'
import type { FleetNode } from '../model/fleet.ts'
import { addressIn, type FleetConfig } from '../model/fleet-config.ts'
import {
  type AskedRepository,
  chartReaderKey,
  type DeclarationPlace,
  declarationKey,
  factKey,
  followerKey,
  NOT_READABLE,
  type ReadAccess,
  type RepositoryFact,
  readerKey,
  type SourceDeclaration,
} from '../model/source-access.ts'
import { sourceRefOf } from './resolve-source.ts'
import {
  askedBy,
  decideRead,
  type MayRead,
  type ReadDecision,
  type RenderedSource,
  type SourceIndex,
} from './sources.ts'

/** What the decision needs of a cluster while its graph is walked. */
export interface ReadContext {
  readonly cluster: string
  readonly given: ReadAccess
  /** The fleet's own file, as it is before the change. */
  readonly config: FleetConfig
  /** Tenant that renders a source object; undefined: the platform. */
  readonly declarerOf: (id: string) => string | undefined
  /** The repository at a commit from which the node comes that renders a source object. */
  readonly contentOf: (id: string) => { readonly url: string; readonly commit: string } | undefined
  readonly owners: ReadonlyMap<string, string>
  /** Repositories that nothing lists, by who would read them; only so many are asked about. */
  readonly asked: Map<string, Set<string>>
}

/** The reader of a source: the node that follows it. */
export interface Reader {
  /** Undefined: the platform, or not known yet. */
  readonly tenant: string | undefined
  /** The tenant that wrote the Kustomization; undefined: the platform. */
  readonly writer: string | undefined
  /** The repository in which that stands which follows the source. */
  readonly stands?: string
  /** Absent: nothing follows the source yet. */
  readonly node?: { readonly key: string; readonly follows: string }
}

/** Repositories that nothing lists, for each tenant: each is a question to GitHub. More are refused unasked. */
const MAX_ASKED = 50

/** Asks decideRead about the repository at `url`; `source` undefined: that of the fleet itself, which bootstrap declares. */
export function askRead(view: ReadContext, reader: Reader, source: KubeObject | undefined, url: string): ReadDecision {
  const id = source ? sourceIdOf(source) : ''
  const author = source ? view.declarerOf(id) : undefined
  const byPlatform = author === undefined && (reader.writer === undefined || isFor(view, reader, source))
  const { given, config } = view
  const decision = decideRead({
    byPlatform,
    declared: given.base ? isDeclared(given.base.platform, reader, url) : byPlatform,
    get standsThere() {
      return standsIn(reader, source, author, url)
    },
    get listed() {
      return listedFor(config, reader.tenant, url)
    },
    get isNew() {
      return isNew(view, reader, source, id)
    },
    withheld: given.withheld === url,
    get adopted() {
      const isTheirs = author !== undefined && author === reader.tenant && isOwn(reader)
      return isTheirs && isAskable(view, reader, url) ? adoption(view, source!, id, url) : false
    },
    get fact() {
      return isAskable(view, reader, url) ? factsOf(given).get(factKey({ url })) : { url, public: false, people: false }
    },
  })
  return decision
}

/**
 * Whether a registry is asked for an artifact with the operator's credentials: the platform declares it for the reader, as its
 * manifests are before the change. Else it is read without credentials, so that no declaration shows what is private.
 */
function mayAskAsOperator(view: ReadContext, reader: Reader, source: KubeObject, url: string): boolean {
  if (view.given.base) return isDeclared(view.given.base.platform, reader, url)
  return (
    view.declarerOf(sourceIdOf(source)) === undefined && (reader.writer === undefined || isFor(view, reader, source))
  )
}

function isDeclared(platform: ReadonlySet<string>, { tenant = '', writer }: Reader, url: string): boolean {
  return platform.has(readerKey(tenant, url)) || (writer === undefined && platform.has(followerKey(tenant, url)))
}

const sourceIdOf = (source: KubeObject): string => {
  const { kind, namespace, name } = idOf(source)
  return `${kind}/${namespace}/${name}`
}

/** The address of the repository that a source object names. */
export function addressOfSource({ aliases }: Pick<FleetConfig, 'aliases'>, source: KubeObject): string | undefined {
  const url = stringAt(source.root, ['spec', 'url'])
  return url ? addressIn(aliases, url) : undefined
}

/** Whether the source lies in a namespace of the reader's. */
function isFor(view: ReadContext, { tenant }: Reader, source: KubeObject | undefined): boolean {
  if (tenant === undefined) return true
  return source !== undefined && view.owners.get(idOf(source).namespace) === tenant
}

/** For the platform's nodes every list of the file counts: it is the platform's file. */
function listedFor({ tenants }: FleetConfig, tenant: string | undefined, url: string) {
  const own = tenant === undefined ? undefined : tenants.get(tenant)
  const lists = tenant === undefined ? [...tenants.values()] : own ? [own] : []
  if (lists.some(({ repositories }) => repositories.has(url))) return 'repository'
  const isMatched = lists.some(one => one.allowedSources?.some(pattern => matchesSource(pattern, url)))
  return isMatched ? 'pattern' : undefined
}

/** A Kustomization of the platform's, or of the reader's own. */
const isOwn = ({ writer, tenant }: Reader) => writer === undefined || writer === tenant

/** Whether an admin of the repository brought a tenant's declaration of it, or where that stands. */
function adoption(view: ReadContext, source: KubeObject, id: string, url: string): boolean | DeclarationPlace {
  const { given, config, cluster } = view
  if (config.tenantSources === 'declared') return false
  const known = given.base?.declarations.get(declarationKey(cluster, id))
  const isSame = known?.text === canonical(source.root) && known.tenant === view.declarerOf(id)
  if (isSame) return known.adopted === true
  const { repository, file } = originAt(source.root, ['spec', 'url'])
  const content = view.contentOf(id)
  // a file of another repository, such as a remote base, tells nothing about who declared it
  if (content?.url !== repository) return false
  const place = { repository, file, commit: given.base ? '' : content.commit }
  return factsOf(given).get(factKey({ url, declaredIn: place }))?.adopted ?? place
}

/** The author of a declaration can read the repository that it stands in. */
function standsIn(reader: Reader, source: KubeObject | undefined, author: string | undefined, url: string): boolean {
  if (isOwn(reader) && reader.stands === url) return true
  if (source?.root.origin.repository !== url) return false
  return author === undefined ? reader.writer === undefined : author === reader.tenant
}

/** Whether the base has neither this source as it is, nor this node following it. */
function isNew({ cluster, given: { base } }: ReadContext, reader: Reader, source: KubeObject | undefined, id: string) {
  if (!base) return false
  if (source && base.declarations.get(declarationKey(cluster, id))?.text !== canonical(source.root)) return true
  return reader.node !== undefined && base.follows.get(reader.node.key) !== reader.node.follows
}

function isAskable({ asked }: ReadContext, { tenant = '' }: Reader, url: string): boolean {
  const urls = asked.get(tenant) ?? new Set<string>()
  asked.set(tenant, urls)
  if (urls.has(url)) return true
  if (tenant !== '' && urls.size >= MAX_ASKED) return false
  urls.add(url)
  return true
}

/** The facts by factKey. */
const factsOf = oncePer(
  (given: ReadAccess): ReadonlyMap<string, RepositoryFact> => new Map(given.facts.map(fact => [factKey(fact), fact])),
)

/** The caller may read all of the input. */
const READS_ALL: MayRead = { reader: '', ask: () => ({ state: 'read', lent: false }), asOperator: () => true }

/** Decides for one reader which sources may be read; without a view everything may. */
export function mayRead(view: ReadContext | undefined, reader: Reader): MayRead {
  if (!view) return READS_ALL
  const { tenant, writer, node, stands } = reader
  const isNew = node !== undefined && view.given.base?.follows.get(node.key) !== node.follows
  return {
    reader: JSON.stringify([view.cluster, tenant ?? null, writer ?? null, stands ?? null, isNew]),
    ask: (source: KubeObject | 'bootstrap', url: string) =>
      askRead(view, reader, source === 'bootstrap' ? undefined : source, url),
    asOperator: (source, url) => mayAskAsOperator(view, reader, source, url),
  }
}

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
 * where it is not needed.
 */
function gateOf({ cluster, config, given }: ReadContext, { id, url, text }: SourceDeclaration, object: KubeObject) {
  const isKnown = given.base?.declarations.get(declarationKey(cluster, id))?.text === text
  if (config.tenantSources !== 'gated' || !given.base || isKnown) return undefined
  const { branch } = stringAt(object.root, ['spec', 'ref', 'commit']) ? {} : sourceRefOf(object)
  if (branch === undefined) return undefined
  const question = { url, branch }
  return factsOf(given).get(factKey(question))?.gated ?? { ...question, people: false }
}
