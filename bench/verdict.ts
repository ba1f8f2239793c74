import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildFleet } from '../src/fleet/build-fleet.ts'
import { combinationOf } from '../src/fleet/combination.ts'
import { readFolder } from '../src/git/folder-tree.ts'
import { openSnapshot } from '../src/git/snapshot.ts'
import { judge } from '../src/rules/judge.ts'
import { findProgram } from '../test/programs.ts'

// A verdict on a fleet, beside the loop that people run today: kustomize over every overlay. One run, medians, a ratio.
const RUNS = 9
const reference = join(import.meta.dirname, '../../shared/fleets/flux2-multi-tenancy')
const fleets = existsSync(reference)
  ? { name: 'flux2-multi-tenancy', root: join(reference, 'fleet'), tenant: join(reference, 'dev-team') }
  : {
      name: 'test/fleets/acme',
      root: join(import.meta.dirname, '../test/fleets/acme/fleet'),
      tenant: join(import.meta.dirname, '../test/fleets/acme/dev-team'),
    }
const address =
  fleets.name === 'flux2-multi-tenancy'
    ? {
        fleet: 'https://github.com/fluxcd/flux2-multi-tenancy',
        tenant: 'https://github.com/fluxcd/flux2-multi-tenancy',
      }
    : { fleet: 'https://github.com/acme/fleet', tenant: 'https://github.com/acme/dev-team' }
const branch = address.fleet === address.tenant ? 'dev-team' : 'main'

const fleetFiles = await readFolder(fleets.root)
const tenantFiles = await readFolder(fleets.tenant)

function verdict(): string {
  // opened anew each time, so that nothing is remembered from the run before
  const input = {
    fleet: { url: address.fleet, branch: 'main', commit: '', tree: openSnapshot(fleetFiles) },
    sources: [{ url: address.tenant, ref: { branch }, commit: '', tree: openSnapshot(tenantFiles) }],
    opaque: [],
  }
  return judge(buildFleet(input), { combination: combinationOf(input) }).verdict.summary
}

function kustomizeLoop(program: string): void {
  for (const root of [fleets.root, fleets.tenant]) {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
      if (entry.name !== 'kustomization.yaml') continue
      execFileSync(program, ['build', '--load-restrictor', 'LoadRestrictionsNone', entry.parentPath], { stdio: 'pipe' })
    }
  }
}

function median(run: () => void): number {
  const times = Array.from({ length: RUNS }, () => {
    const start = performance.now()
    run()
    return performance.now() - start
  })
  return times.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
}

const start = performance.now()
const summary = verdict()
const first = performance.now() - start
const ours = median(verdict)
console.log(`${fleets.name}: ${summary}`)
console.log(`verdict, first in this process: ${first.toFixed(1)} ms; median of ${RUNS}: ${ours.toFixed(1)} ms`)
const kustomize = findProgram('kustomize')
if (kustomize) {
  const theirs = median(() => kustomizeLoop(kustomize))
  console.log(
    `kustomize over every kustomization.yaml, median of ${RUNS}: ${theirs.toFixed(1)} ms; ratio ${(theirs / ours).toFixed(1)}`,
  )
} else console.log('no kustomize at hand: nothing to compare with')
