/** A tenant of a fleet, as the title of its deploy key names both. */
interface KeyOwner {
  readonly tenant: string
  /** `<owner>/<name>`. */
  readonly fleet: string
}

/** What GitHub shows beside a deploy key of a tenant. `how`: who asked for it, in a few words. */
export function deployKeyTitle(owner: KeyOwner, how: string): string {
  return `${prefixOf(owner)}${how}`
}

/** Whether a deploy key is one of this tenant. Only admins of its repository can give it a title, and our App. */
export const isTitleOf = (title: string, owner: KeyOwner): boolean => title.startsWith(prefixOf(owner))

/** The tenant of a fleet that a title names; undefined for a key of something else. */
export function tenantInTitle(title: string, fleet: string): string | undefined {
  const tenant = /^Flux: tenant ([a-z0-9-]{1,253}) of /.exec(title)?.[1]
  return tenant !== undefined && isTitleOf(title, { tenant, fleet }) ? tenant : undefined
}

const prefixOf = ({ tenant, fleet }: KeyOwner) => `Flux: tenant ${tenant} of ${fleet}, `
