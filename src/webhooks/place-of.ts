/** The parts of a payload that say where an event happened; which of them are there depends on the event. */
export interface Placed {
  readonly installation?: { readonly id: number; readonly account?: { readonly login?: string } | null } | undefined
  readonly organization?: { readonly login: string } | undefined
  readonly repository?: { readonly name: string; readonly owner: { readonly login?: string } | null } | undefined
}

/** Where an event happened, and whose account it is. */
interface FoundPlace {
  readonly installation: number
  readonly account: string
  /** Absent where the event names no repository. */
  readonly repo: string | undefined
}

/** Undefined where the event belongs to no installation, or to nobody: then it is none that an App hears. */
export function placeOf({ installation, organization, repository }: Placed): FoundPlace | undefined {
  const account = repository?.owner?.login ?? installation?.account?.login ?? organization?.login
  if (installation === undefined || account === undefined) return undefined
  return { installation: installation.id, account, repo: repository?.name }
}
