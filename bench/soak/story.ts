import { deploymentFile } from '../../test/workers/story/tenant-changes.ts'

/** A number below `below`, always the same ones for a seed (mulberry32). */
export type Chance = (below: number) => number

export function chance(seed: number): Chance {
  let state = seed >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** One push to the branch of a pull request. */
export interface Step {
  readonly branch: string
  readonly files: Readonly<Record<string, string>>
}

export const REPOSITORY = 'acme/dev-team'
const DEPLOYMENT = 'base/deployment.yaml'
const OVERLAY =
  'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - ../base\n  - report.yaml\n'

/** The Deployment that the overlays of the tenant patch, in a version. */
const storefront = (patch: number) => deploymentFile('storefront', 'apps').replace(':1.0.0', `:1.0.${patch}`)

/** What people push: harmless, a violation of several kinds, what cannot be rendered, what touches nothing. */
const CONTENTS: readonly ((run: number) => Step['files'])[] = [
  run => ({ [DEPLOYMENT]: storefront(run % 7) }),
  run => ({
    'staging/report.yaml': deploymentFile(`report-${run % 3}`, 'kube-system'),
    'staging/kustomization.yaml': OVERLAY,
  }),
  run => ({
    [DEPLOYMENT]: storefront(run % 5).replace('      containers:', '      hostNetwork: true\n      containers:'),
  }),
  run => ({ [DEPLOYMENT]: `kind: [${run % 2}\n` }),
  run => ({ 'notes.md': `${run}\n` }),
]

/** So many pushes to so many pull requests; the same seed gives the same ones. */
export function storyOf(seed: number, pushes: number, pulls: number): Step[] {
  const next = chance(seed)
  return Array.from({ length: pushes }, () => {
    const branch = `change-${next(pulls)}`
    const content = CONTENTS[next(CONTENTS.length)]!
    return { branch, files: content(next(1_000)) }
  })
}
