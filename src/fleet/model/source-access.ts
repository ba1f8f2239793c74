import type { Origin } from '../../base/origin.ts'
import { normaliseUrl } from '../../kube/source-address.ts'

/** A GitRepository object of one cluster, as the next change is compared with it. */
export interface SourceDeclaration {
  readonly cluster: string
  /** `GitRepository/<namespace>/<name>`. */
  readonly id: string
  /** Normalised. */
  readonly url: string
  /** Tenant whose node renders it; absent: the platform. */
  readonly tenant?: string
  /** Key of the node that renders it. */
  readonly node: string
  readonly origin: Origin
  /** Canonical JSON of the object. */
  readonly text: string
  /** It may not be read for the tenant that declares it. */
  readonly refused: boolean
  /** An admin of the repository brought it. */
  readonly adopted?: true
  /** What it follows requires our check, by rules of GitHub's, and a change of it is evaluated for the tenant. */
  readonly gated?: true
}

/** What a fleet declares about its sources: data that the decision about a change reads. */
export interface SourceAccess {
  /** Keys of readerKey and followerKey: the repositories that the platform's manifests declare, by reader. */
  readonly platform: ReadonlySet<string>
  /** By `<cluster> <id>`. */
  readonly declarations: ReadonlyMap<string, SourceDeclaration>
  /** Id of the source that each node follows, by the node's key. */
  readonly follows: ReadonlyMap<string, string>
  /** Repositories of charts that may not be read for whose release it is: keys of chartReaderKey. */
  readonly charts: ReadonlySet<string>
}

/** The same for the platform's own Kustomizations that act for a reader: what these follow, the reader's may not. */
export const followerKey = (reader: string, url: string): string => `${readerKey(reader, url)}\0by the platform`

/** A repository and who reads it; '' is the platform. */
export const readerKey = (reader: string, url: string): string => `${reader}\0${url}`

export const chartReaderKey = (cluster: string, owner: string, url: string): string =>
  `${cluster}\0${readerKey(owner, url)}`

export const declarationKey = (cluster: string, id: string): string => `${cluster} ${id}`

/** Where a tenant declares a source: what tells who did. */
export interface DeclarationPlace {
  readonly repository: string
  /** '': the change that is evaluated declares it. */
  readonly commit: string
  readonly file: string
}

/** What a fact is about: a repository, one of its branches, or a tenant's declaration of it as a source. */
interface Questioned {
  /** Normalised by normaliseUrl. */
  readonly url: string
  readonly branch?: string
  readonly declaredIn?: DeclarationPlace
}

/** What GitHub says about a repository that a declaration names and that nothing of the fleet lists. */
export interface RepositoryFact extends Questioned {
  /** Public: neither private nor internal. */
  readonly public: boolean
  /** The author and every pusher of the change may read it; absent: not asked. */
  readonly people?: boolean
  /** Of a branch: our check is required there, by rules without bypass. */
  readonly gated?: boolean
  /** Of a declaration: who brought it administers the repository. */
  readonly adopted?: boolean
}

/** A fact that is needed; `people`: who brought the change counts, too. */
export interface AskedRepository extends Questioned {
  readonly people: boolean
}

/** Equal for one question. */
export const factKey = ({ url, branch, declaredIn }: Questioned): string =>
  JSON.stringify([url, branch ?? null, declaredIn ? [declaredIn.repository, declaredIn.commit, declaredIn.file] : null])

/** By what it is decided which repositories are read for a node. The command line has none of this: it reads what it is given. */
export interface ReadAccess {
  /** What the fleet before the change declares; absent: the input is evaluated by what it declares itself. */
  readonly base?: SourceAccess
  /** Sorted by address. */
  readonly facts: readonly RepositoryFact[]
  /** A repository that no declaration by tenants is followed to: the change is in it, and its result is not theirs. */
  readonly withheld?: string
}

/** The one reason of a source that may not be read, whether or not it exists: others would tell which repositories there are. */
export const NOT_READABLE =
  'Bailiwick has no permission to read this repository for this tenant. A fleet admin can list it for the tenant in .github/bailiwick.yaml'

/** Who can see a repository on GitHub; `internal`: the members of the enterprise. */
export type Visibility = 'public' | 'internal' | 'private'

const WIDTH: Record<Visibility, number> = { private: 0, internal: 1, public: 2 }

/** Whether more people can see what is published at `place` than can see the source. */
export const isWider = (place: Visibility, source: Visibility): boolean => WIDTH[place] > WIDTH[source]

const ADDRESS = /(?:https?|ssh):\/\/[^\s"'<>,;]+|[\w.-]{1,100}@[\w.-]{1,100}:[^\s"'<>,;]+/g
const VARIABLE = /\$\{[^}]*\}/g
const MAX_NAMES = 10_000

/**
 * Addresses of repositories that texts name, normalised and sorted; a variable in one is written `*`. Beyond the
 * limit of names the rest is `*`, any repository.
 */
export function namedRepositories(texts: Iterable<string>): string[] {
  const found = new Set<string>()
  for (const text of texts) {
    for (const [address] of text.matchAll(ADDRESS)) {
      if (found.size >= MAX_NAMES) return [...found.add('*')].sort()
      found.add(normaliseUrl(address.replace(VARIABLE, '*')))
    }
  }
  return [...found].sort()
}

/** Whether what was named leads to the repository at `url`. */
export function mayLeadTo(names: readonly string[], url: string): boolean {
  return names.some(name => isNamed(name, url))
}

/** Whether a name that namedRepositories gave stands for `url`: `*` is any text. */
function isNamed(name: string, url: string): boolean {
  const [first = '', ...parts] = name.split('*')
  if (!url.startsWith(first)) return false
  let from = first.length
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1
    const at = last ? url.length - part.length : url.indexOf(part, from)
    if (at < from || !url.startsWith(part, at)) return false
    from = at + part.length
  }
  return from === url.length
}
