import { DEFAULT_SETTINGS } from '../../../src/flux/apply-settings.ts'
import { checkPageOf, fleetPageOf } from '../../../src/report/page/build-pages.ts'
import type { CheckPage } from '../../../src/report/page/check-page.ts'
import type { FleetPage } from '../../../src/report/page/fleet-page.ts'
import type { EvaluatedNode } from '../../../src/rules/model/finding.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { finding, verdict } from '../../report/samples.ts'
import { atOnce } from '../../repository/runner/at-once.ts'

export const SHA = 'a'.repeat(40)

/** A Kustomization of the fleet, as it was evaluated. */
export function node(over: Partial<EvaluatedNode> = {}): EvaluatedNode {
  return {
    key: 'staging/ops/ops-team',
    cluster: 'staging',
    namespace: 'ops',
    name: 'ops-team',
    parent: null,
    user: 'system:serviceaccount:ops:ops-team',
    impersonated: true,
    tenant: 'ops-team',
    source: { id: 'GitRepository/ops/ops-team', url: 'https://github.com/acme/ops-team', commit: SHA, opaque: null },
    dependsOn: [],
    suspend: false,
    prune: true,
    settings: DEFAULT_SETTINGS,
    digest: '',
    findings: [],
    failures: [],
    objects: ['{}'],
    hides: [],
    refused: [],
    ...over,
  }
}

/** The page of a commit that is held back. */
export function samplePage(
  place: Partial<Pick<CheckPage, 'owner' | 'repo' | 'repositoryId' | 'headSha' | 'check'>> = {},
): CheckPage {
  const { owner = 'acme', repo = 'fleet', headSha = SHA, check = CHECK_NAME, repositoryId } = place
  const outcome = verdict({ result: 'fail', violations: [finding()] })
  const context = {
    kind: 'pull-request',
    repository: `https://github.com/${owner}/${repo}`,
    headSha,
    nodes: [node()],
  } as const
  const at = '2026-11-21T20:00:00.000Z'
  return checkPageOf(outcome, context, {
    owner,
    repo,
    check,
    at,
    ...(repositoryId === undefined ? {} : { repositoryId }),
  })
}

/** The page of a fleet. */
export function sampleFleet(place: { readonly repositoryId?: number } = {}): FleetPage {
  const fleet = {
    repository: 'https://github.com/acme/fleet',
    branch: 'main',
    commit: SHA,
    evaluation: { verdict: verdict(), nodes: [node()] },
    audit: [],
    access: { namespaces: [], left: 0 },
  }
  return atOnce(fleetPageOf(fleet, { owner: 'acme', repo: 'fleet', at: '2026-11-21T20:00:00.000Z', ...place }))
}
