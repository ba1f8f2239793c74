/** Somebody asks for the traffic of a host. */
export interface HostClaim {
  readonly host: string
  /** Undefined: the platform. */
  readonly tenant: string | undefined
  /** It was there before the change, too; without a comparison nobody knows who was first. */
  readonly isOld: boolean
  /** It only gets what nobody else asks for by a name: others are not told about it. */
  readonly catchesAll?: true
}

/** Who claims something; two names are enough to tell whether somebody else does. */
interface Claimants {
  readonly any: Set<string>
  readonly old: Set<string>
}

const PLATFORM = '\0'

/** Whose hosts overlap. A claim that stood before is not held against who came first. */
export class HostClaims {
  /** By host, and for each parent of a host what is claimed below it. */
  readonly #at = new Map<string, Claimants>()
  readonly #below = new Map<string, Claimants>()

  add(claim: HostClaim): void {
    if (claim.catchesAll) return
    note(this.#at, claim.host, claim)
    for (const wildcard of wildcardsOver(claim.host)) note(this.#below, wildcard, claim)
  }

  /** What of somebody else a tenant's claim overlaps: the same host, one that it covers, or a wildcard over it. */
  overlap(claim: HostClaim): 'host' | 'covers' | 'covered' | undefined {
    if (isOthers(this.#at.get(claim.host), claim)) return 'host'
    if (isOthers(this.#below.get(claim.host), claim)) return 'covers'
    // a wildcard of the platform is an offer to its tenants
    const over = wildcardsOver(claim.host).some(host => isOthers(this.#at.get(host), claim, PLATFORM))
    return over ? 'covered' : undefined
  }
}

function isOthers(claimants: Claimants | undefined, { tenant, isOld }: HostClaim, besides?: string): boolean {
  const known = isOld ? claimants?.old : claimants?.any
  for (const one of known ?? []) if (one !== (tenant ?? PLATFORM) && one !== besides) return true
  return false
}

function note(map: Map<string, Claimants>, host: string, { tenant, isOld }: HostClaim): void {
  let claimants = map.get(host)
  if (!claimants) {
    claimants = { any: new Set(), old: new Set() }
    map.set(host, claimants)
  }
  for (const set of isOld ? [claimants.any, claimants.old] : [claimants.any])
    if (set.size < 3) set.add(tenant ?? PLATFORM)
}

/** `*.b.c`, `*.c` and `*` for `a.b.c`. */
function wildcardsOver(host: string): string[] {
  const labels = host.split('.')
  const parents = labels.slice(1).map((_, index) => `*.${labels.slice(index + 1).join('.')}`)
  return [...parents, '*'].filter(one => one !== host)
}
