import type { AskedRepository, DeclarationPlace, RepositoryFact } from '../model/read-access.ts'

/** One question: may this repository be read for this node? */
interface ReadQuestion {
  /** The declaration that names it is the platform's: rendered by a node without a tenant. */
  readonly byPlatform: boolean
  /** The platform's manifests declare the repository for the reader, as they are before the change. */
  readonly declared: boolean
  /** The fleet's own file lists it: under `tenants[].repositories` of the reader, or by a pattern of its `allowedSources`. */
  readonly listed: 'repository' | 'pattern' | undefined
  /** The declaration stands in this very repository, and whoever wrote it is the reader. */
  readonly standsThere: boolean
  /** The change adds or alters the declaration. */
  readonly isNew: boolean
  /** The change is in this repository, and its result is not the declaring tenant's. */
  readonly withheld: boolean
  readonly fact: RepositoryFact | undefined
  /**
   * The reader's own declaration was brought by someone who administers the repository: that is what its admins agree by. Not
   * known yet: where it is declared.
   */
  readonly adopted: boolean | DeclarationPlace
}

/** `lent`: only a tenant's declaration leads there, so the repository itself is not gated by it, and nothing is published on it. */
export type ReadDecision =
  | { readonly state: 'read'; readonly lent: boolean }
  | { readonly state: 'refused'; readonly lent: true }
  | { readonly state: 'ask'; readonly people: boolean; readonly declaredIn?: DeclarationPlace }

const REFUSED: ReadDecision = { state: 'refused', lent: true }

/**
 * Whether a repository is read for a node: because the platform declares it or the fleet's file lists it, because the
 * declaration stands in it, because an admin of it brought the declaration, because it is public, or because everybody who
 * brought the change may read it. Anything else is refused, in one way: the answer does not depend on whether the repository
 * exists.
 */
export function decideRead(question: ReadQuestion): ReadDecision {
  const { byPlatform } = question
  if (question.declared || question.standsThere || question.listed === 'repository')
    return { state: 'read', lent: false }
  if (!byPlatform) {
    const { adopted } = question
    if (typeof adopted === 'object') return { state: 'ask', people: false, declaredIn: adopted }
    if (adopted) return { state: 'read', lent: false }
    if (question.withheld) return REFUSED
  }
  const read: ReadDecision = { state: 'read', lent: !byPlatform }
  if (question.listed === 'pattern') return read
  const { fact } = question
  if (!fact) return { state: 'ask', people: question.isNew }
  if (fact.public) return read
  if (!question.isNew) return REFUSED
  if (fact.people === undefined) return { state: 'ask', people: true }
  return fact.people ? read : REFUSED
}

/** What is asked about a repository for a decision. */
export const askedBy = (
  url: string,
  { people, declaredIn }: ReadDecision & { readonly state: 'ask' },
): AskedRepository => ({ url, people, ...(declaredIn ? { declaredIn } : {}) })
