import { canonical, originAt, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import { matchesSource } from '../config/allowed-sources.ts'
import { addressIn } from '../model/address-in.ts'
import type { FleetConfig } from '../model/fleet-config.ts'
import { type DeclarationPlace, factKey, type ReadAccess, type RepositoryFact } from '../model/read-access.ts'
import { declarationKey, followerKey, readerKey } from '../model/source-access.ts'
import { decideRead, type ReadDecision } from './decide-read.ts'

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

/** For whom a source is read: the node that follows it. */
export interface Reader {
  /** Undefined: the platform, or not known yet. */
  readonly tenant: string | undefined
  /** Of whom the Kustomization is; undefined: the platform. */
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
 * manifests are before the change. Else it is read as anybody may read it, so that no declaration shows what is private.
 */
export function mayAskAsOperator(view: ReadContext, reader: Reader, source: KubeObject, url: string): boolean {
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
export function addressOfSource({ aliases }: FleetConfig, source: KubeObject): string | undefined {
  const url = stringAt(source.root, ['spec', 'url'])
  return url ? addressIn(aliases, url) : undefined
}

/** Whether the source lies in a namespace of the reader's. */
function isFor(view: ReadContext, { tenant }: Reader, source: KubeObject | undefined): boolean {
  if (tenant === undefined) return true
  return source !== undefined && view.owners.get(idOf(source).namespace) === tenant
}

/** Of the platform's nodes whatever the file lists for anybody: it is the platform's file. */
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
export function adoption(view: ReadContext, source: KubeObject, id: string, url: string): boolean | DeclarationPlace {
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

/** Whoever writes a declaration into a repository reads that repository. */
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

const known = new WeakMap<ReadAccess, ReadonlyMap<string, RepositoryFact>>()

/** The facts by factKey. */
export function factsOf(given: ReadAccess): ReadonlyMap<string, RepositoryFact> {
  const facts = known.get(given) ?? new Map(given.facts.map(fact => [factKey(fact), fact]))
  known.set(given, facts)
  return facts
}
