import { checkRunOf } from '../../../src/report/check-run.ts'
import { commentOf } from '../../../src/report/comment.ts'
import type { Outcome, ReportContext } from '../../../src/report/outcome.ts'
import { changesOf } from '../../../src/verdict/diff/changes-of.ts'
import { leanEvaluation } from '../../../src/verdict/verdict-views.ts'
import { outcomeOf } from '../../../workers/gate/commit-outcome.ts'
import { evaluationOf, type Files, fleetOf, type Given } from '../../fleet/fleet-of.ts'
import { fleetFiles, fleetRepositories } from '../../fleet/fleets/read-fleet.ts'

/** Files of the repositories of acme; undefined: without that file. */
type Edits = Readonly<Record<string, string | undefined>>
interface World {
  readonly fleet?: Edits
  readonly dev?: Edits
  readonly ops?: Edits
}

const URLS = {
  fleet: fleetRepositories['acme/fleet'].url,
  dev: fleetRepositories['acme/dev-team'].url,
  ops: fleetRepositories['acme/ops-team'].url,
}

/** The tenant ops-team on staging, as onboarding writes it. */
export const OPS_TENANT: Edits = {
  'tenants/staging/kustomization.yaml': `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
  - ../base/dev-team
  - ../base/ops-team
patches:
  - path: dev-team-patch.yaml
`,
  'tenants/base/ops-team/kustomization.yaml': 'namespace: ops\nresources: [rbac.yaml, sync.yaml]\n',
  ...Object.fromEntries(
    ['rbac', 'sync'].map(name => [
      `tenants/base/ops-team/${name}.yaml`,
      fleetFiles('acme/fleet')
        [`tenants/base/dev-team/${name}.yaml`]!.replaceAll('dev-team', 'ops-team')
        .replaceAll('apps', 'ops'),
    ]),
  ),
}

/** Acme with both tenants on staging, dev-team on production too, and some edits. */
function acme(world: World): Given {
  const of = (files: Files, ...edits: readonly (Edits | undefined)[]) => {
    const all = Object.entries({ ...files, ...Object.assign({}, ...edits) } as Edits)
    return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined))
  }
  return {
    url: URLS.fleet,
    fleet: of(fleetFiles('acme/fleet'), OPS_TENANT, world.fleet),
    sources: [
      { url: URLS.dev, files: of(fleetFiles('acme/dev-team'), world.dev) },
      { url: URLS.ops, files: of(fleetFiles('acme/ops-team'), world.ops) },
    ],
  }
}

export interface Situation {
  /** Whose repository the pull request is in. */
  readonly of: keyof typeof URLS
  readonly before?: World
  readonly after: World
  readonly context?: Partial<ReportContext>
}

/** What is said on a pull request, evaluated and compared as the worker does it. */
export function said({ of, before = {}, after, context = {} }: Situation): {
  outcome: Outcome
  context: ReportContext
} {
  const [base, head] = [
    acme(before),
    acme({
      fleet: { ...before.fleet, ...after.fleet },
      dev: { ...before.dev, ...after.dev },
      ops: { ...before.ops, ...after.ops },
    }),
  ]
  const changed = of === 'fleet' ? undefined : URLS[of]
  const after_ = fleetOf(head)
  const evaluation = leanEvaluation(evaluationOf(head, { base, ...(changed ? { changed } : {}) }), after_, changed)
  const { outcome, ...statement } = outcomeOf(
    [
      {
        place: { repository: { url: URLS.fleet, owner: 'acme', name: 'fleet' } as never, branch: 'main' },
        alone: false,
        narrower: [],
        isDark: false,
        snapshot: undefined as never,
        fleetCommit: '99887766554433221100ffeeddccbbaa00112233',
        evaluation,
        changes: changesOf(fleetOf(base), after_),
      },
    ],
    URLS[of],
    'pull-request',
  )
  const where = {
    kind: 'pull-request',
    repository: URLS[of],
    headSha: '1a2b3c4d5e6f708192a3b4c5d6e7f80910111213',
  } as const
  return { outcome, context: { ...where, ...statement, ...context } }
}

/** The comment and the title of the check, as a person reads them. */
export function page(situation: Situation): string {
  const { outcome, context } = said(situation)
  const { conclusion, title } = checkRunOf(outcome, context)
  return `# ${conclusion}: ${title}\n\n${commentOf(outcome, context) ?? '(no comment)'}\n`
}
