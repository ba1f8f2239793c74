import { surveyFleet } from '../../src/audit/survey-fleet.ts'
import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import { combinationOf } from '../../src/fleet/graph/combination.ts'
import type { FleetInput } from '../../src/fleet/model/input.ts'
import { openSnapshot } from '../../src/git/snapshot.ts'
import type { EvaluationAnswer, SurveyRequest } from './protocol.ts'

/** Surveys a whole fleet without caches, because it runs rarely. */
export function survey({ head, today }: SurveyRequest): EvaluationAnswer {
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
  return { type: 'surveyed', survey: surveyFleet(fleet, { url, branch }, { combination: combinationOf(input), today }) }
}
