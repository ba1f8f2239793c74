import type { FleetSurvey } from '../../audit/survey-fleet.ts'
import type { Gate, GateGap } from '../../protection/evaluate-gate.ts'
import type { OpenDesignation } from './designation-section.ts'

/** What is known of one branch that must be gated; `unread`: why its protection was not looked at. */
export interface BranchGate {
  readonly url: string
  readonly branch: string
  /** Name of the check that it should require; absent: the plain one. */
  readonly check?: string
  readonly gate: Gate | undefined
  readonly unread?: string
}

/** What is known of the branch of a trail; `gaps` undefined: nothing was written yet. */
export interface TrailFacts {
  readonly branch: string
  readonly gaps: readonly GateGap[] | undefined
}

/** How far the baseline is: a file is there, a pull request offers one, people closed that, nothing needs one. */
export type BaselineState =
  | { readonly kind: 'present' | 'declined' | 'not-needed' }
  | { readonly kind: 'offered'; readonly pull: number }

/** The facts that the first report shows. */
export interface FirstReportFacts {
  /** Normalised address of the fleet. */
  readonly url: string
  readonly survey: FleetSurvey
  readonly gates: readonly BranchGate[]
  readonly baseline: BaselineState
  /** `off`: none is written. */
  readonly trail?: TrailFacts | 'off'
  /** Whether the fleet has the form by which teams ask for a tenant. */
  readonly hasForm: boolean
  /** What an owner of the organization has to decide about who is a fleet. */
  readonly designation?: OpenDesignation
}
