import type { NodeFailure } from '../../rules/model/finding.ts'

/** The same evaluation error of one or more nodes: said once. */
export interface FailureGroup {
  readonly failure: NodeFailure
  /** Keys of the nodes, in order; empty for what is about all of it. */
  readonly nodes: readonly string[]
  readonly clusters: readonly string[]
  readonly tenants: readonly string[]
}

/** What is said of an existing error that Flux shares: it does not block, and nothing comes of what is merged. */
const NOT_APPLIED = 'Flux rejects it too. It applies nothing from this Kustomization until the error is fixed.'

/** Puts equal errors of several nodes and clusters together, in the order of the first of each. */
export function groupFailures(failures: readonly NodeFailure[]): FailureGroup[] {
  const keyOf = ({ code, state, message, fix, origin, blocksApply, since }: NodeFailure) =>
    JSON.stringify([code, state, message, fix, origin, blocksApply ?? false, since])
  return [...Map.groupBy(failures, keyOf).values()].map(all => ({
    failure: all[0]!,
    nodes: distinct(all.map(({ node }) => node)).filter(node => node !== ''),
    clusters: distinct(all.map(({ cluster }) => cluster)),
    tenants: distinct(all.map(({ tenant }) => tenant)),
  }))
}

/** What else is known of an error: that its Kustomizations are not applied, and since which commit they do not build. */
export function noteOf({ blocksApply, since }: NodeFailure): string {
  const began = since === undefined ? '' : `The Kustomization has evaluation errors since commit ${since.slice(0, 10)}.`
  return [blocksApply ? NOT_APPLIED : '', began].filter(Boolean).join(' ')
}

/** The first few of a list, and how many there are more. */
export function firstOf(
  list: readonly string[],
  most = 5,
): { readonly shown: readonly string[]; readonly left: number } {
  return { shown: list.slice(0, most), left: Math.max(0, list.length - most) }
}

const distinct = (list: readonly string[]) => [...new Set(list)]
