import type { SourceAccess } from './source-access.ts'

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
  /** Everybody may read it: neither private nor internal. */
  readonly public: boolean
  /** The author and every pusher of the change may read it; absent: not asked. */
  readonly people?: boolean
  /** Of a branch: our check is required there, by rules that nobody bypasses. */
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
