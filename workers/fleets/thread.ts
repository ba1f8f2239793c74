import { parentPort, workerData } from 'node:worker_threads'
import { BailiwickError } from '../../src/base/errors.ts'
import { sayingOf } from '../../src/base/message.ts'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { type FleetInput, revisionSetOf } from '../../src/fleet/model/input.ts'
import type { WalkProgress } from '../../src/fleet/rendering/render-memory.ts'
import { openSnapshot, type Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import { adoptionText, type FleetChange } from '../../src/tenants/adopt/adoption.ts'
import { planAdoption } from '../../src/tenants/adopt/plan-adoption.ts'
import { planLockdown } from '../../src/tenants/adopt/plan-lockdown.ts'
import { credentialReport } from '../../src/tenants/credential-report.ts'
import { planOffboarding } from '../../src/tenants/offboard/plan.ts'
import { planOnboarding } from '../../src/tenants/onboard/plan.ts'
import { fleetAt } from '../../src/tenants/onboard/tenant-layout.ts'
import { surveyFleet } from '../../src/verdict/audit/survey-fleet.ts'
import { evaluate, KeptFleet, KeptFleets, overview } from './evaluate.ts'
import {
  type ChangeRequest,
  type EvaluateRequest,
  type EvaluationAnswer,
  type EvaluationProgress,
  type EvaluationRequest,
  RunningNode,
  type SurveyRequest,
} from './protocol.ts'

/** The rendering thread: one request in, one answer out. A bug ends the thread, and the evaluator reports it. */
parentPort?.on('message', (request: EvaluationRequest) => parentPort?.postMessage(answer(request)))

const TELL_EVERY_MS = 200

const fleets = new KeptFleets()
const node = new RunningNode(workerData)

function answer(request: EvaluationRequest): EvaluationAnswer {
  try {
    if (request.type === 'evaluate') return evaluateFleet(request)
    if (request.type === 'survey') return survey(request)
    if (request.type === 'overview') return overview(request, fleets.of(request.head.fleet))
    if (request.type === 'offboard') {
      const { request: asked, tree, url, branch } = request
      return { type: 'offboard', plan: planOffboarding(asked, openSnapshot(tree), url, branch) }
    }
    if (request.type === 'credentials') {
      const tree = openSnapshot(request.tree)
      const fleet = fleetAt(tree, request.url, request.branch)
      return { type: 'credentials', report: credentialReport(fleet, tree, request.url) }
    }
    if (request.type === 'change') return { type: 'changed', change: planChange(request) }
    const plan = planOnboarding(request.request, openSnapshot(request.tree), request.url, request.branch)
    return { type: 'planned', plan }
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return {
      type: 'refused',
      code: error.code,
      ...sayingOf(error.typed ?? error.message, error.typedFix ?? error.fix ?? ''),
    }
  }
}

/** Reports progress now and then: a message for each of ten thousand renderings would cost more than some of them. */
function throttledProgress(): (progress: WalkProgress) => void {
  let last = performance.now()
  return progress => {
    if (performance.now() - last < TELL_EVERY_MS) return
    last = performance.now()
    parentPort?.postMessage({ type: 'progress', ...progress } satisfies EvaluationProgress)
  }
}

function evaluateFleet(request: EvaluateRequest): EvaluationAnswer {
  try {
    // stopped nodes are errors of this answer alone, so nothing of it is cached
    const kept = request.stopped ? new KeptFleet() : fleets.of(request.head.fleet)
    return evaluate(request, kept, throttledProgress(), key => node.set(key))
  } catch (error) {
    fleets.forget(request.head.fleet)
    throw error
  }
}

/** The change that a request asks for; undefined if there is nothing to change. */
function planChange({ ask, tree: snapshot, url, branch }: ChangeRequest): FleetChange | undefined {
  const build = (tree: Tree) => fleetAt(tree, url, branch)
  const tree = openSnapshot(snapshot)
  const fleet = { fleet: build(tree), tree, url: normaliseUrl(url), build }
  if (ask.kind === 'lockdown') return planLockdown(fleet, ask.cluster)
  return adoptionText(ask.request.name, planAdoption(fleet, ask.request))
}

/** Surveys a whole fleet without caches, because it runs rarely. */
function survey({ head, today }: SurveyRequest): EvaluationAnswer {
  const input: FleetInput = {
    fleet: { ...head.fleet, tree: openSnapshot(head.fleet.tree) },
    sources: head.sources.map(source => ({ ...source, tree: openSnapshot(source.tree) })),
    opaque: head.opaque,
    disabledRules: head.disabledRules,
    registries: head.registries,
    access: { facts: head.facts },
  }
  const fleet = buildFleet(input)
  if (fleet.wanted.length > 0) return { type: 'wanted', wanted: fleet.wanted, asked: [] }
  const { url, branch } = input.fleet
  return { type: 'surveyed', survey: surveyFleet(fleet, { url, branch }, { revisionSet: revisionSetOf(input), today }) }
}
