import { parentPort, workerData } from 'node:worker_threads'
import { BailiwickError } from '../../src/base/errors.ts'
import { sayingOf } from '../../src/base/message.ts'
import { FleetSession } from '../../src/fleet/graph/fleet-session.ts'
import type { WalkProgress } from '../../src/fleet/rendering/render-memory.ts'
import { openSnapshot, type Tree } from '../../src/git/tree.ts'
import { normaliseUrl } from '../../src/kube/source-address.ts'
import { adoptionText, type FleetChange } from '../../src/tenants/adopt/adoption.ts'
import { planAdoption } from '../../src/tenants/adopt/plan-adoption.ts'
import { planLockdown } from '../../src/tenants/adopt/plan-lockdown.ts'
import { planOffboarding } from '../../src/tenants/offboard/plan.ts'
import { planOnboarding } from '../../src/tenants/onboard/plan.ts'
import { fleetAt } from '../../src/tenants/onboard/tenant-layout.ts'
import { evaluate, KeptFleet, KeptFleets, overview, survey } from './evaluate.ts'
import {
  type ChangeRequest,
  type EvaluateRequest,
  type EvaluationAnswer,
  type EvaluationProgress,
  type EvaluationRequest,
  type RevisionSetSnapshot,
  RunningNode,
} from './protocol.ts'

/** The rendering thread: one request in, one answer out. A bug ends the thread, and the evaluator reports it. */
parentPort?.on('message', (request: EvaluationRequest) => parentPort?.postMessage(answer(request)))

const TELL_EVERY_MS = 200

const fleets = new KeptFleets()
const node = new RunningNode(workerData)

function answer(request: EvaluationRequest): EvaluationAnswer {
  try {
    if (request.type === 'evaluate') return evaluateFleet(request)
    if (request.type === 'survey') return withKept(request, kept => survey(request, kept))
    if (request.type === 'overview') return withKept(request, kept => overview(request, kept))
    if (request.type === 'offboard') {
      const { request: asked, tree, url, branch } = request
      return { type: 'offboard', plan: planOffboarding(asked, openSnapshot(tree), url, branch) }
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
  return withKept(request, known => {
    // stopped nodes are errors of this answer alone, so nothing of it is cached
    const kept = request.stopped ? new KeptFleet() : known
    return evaluate(request, kept, throttledProgress(), key => node.set(key))
  })
}

/** Works with what is kept of a fleet; after an error its state is unknown. */
function withKept(
  { head: { fleet } }: { readonly head: RevisionSetSnapshot },
  work: (kept: KeptFleet) => EvaluationAnswer,
): EvaluationAnswer {
  try {
    return work(fleets.of(fleet))
  } catch (error) {
    fleets.forget(fleet)
    throw error
  }
}

/** The change that a request asks for; undefined if there is nothing to change. */
function planChange({ ask, tree: snapshot, url, branch }: ChangeRequest): FleetChange | undefined {
  const session = new FleetSession()
  const build = (tree: Tree) => fleetAt(tree, url, branch, session)
  const tree = openSnapshot(snapshot)
  const fleet = { fleet: build(tree), tree, url: normaliseUrl(url), build }
  if (ask.kind === 'lockdown') return planLockdown(fleet, ask.cluster)
  return adoptionText(ask.request.name, planAdoption(fleet, ask.request))
}
