import { buildFleet } from '../../src/fleet/graph/build-fleet.ts'
import type { Fleet } from '../../src/fleet/model/fleet.ts'
import { type FleetInput, type OpaqueSource, revisionSetOf } from '../../src/fleet/model/input.ts'
import type { SourceRef } from '../../src/fleet/model/source-ref.ts'
import type { Baseline } from '../../src/rules/model/baseline.ts'
import type { Evaluation } from '../../src/rules/model/finding.ts'
import { evaluateFleet } from '../../src/verdict/evaluate-fleet.ts'
import { treeOf } from '../base/git/tree-of.ts'

/** Files by path. */
export type Files = Readonly<Record<string, string>>

export interface Given {
  readonly url?: string
  readonly branch?: string
  readonly commit?: string
  readonly fleet: Files
  readonly sources?: readonly {
    readonly url: string
    readonly ref?: SourceRef
    readonly commit?: string
    readonly files: Files
  }[]
  readonly opaque?: readonly OpaqueSource[]
  readonly disabledRules?: readonly string[]
}

/** The input of a fleet given as plain files. */
export function inputOf(given: Given): FleetInput {
  const commit = given.commit ?? 'f'.repeat(40)
  const { url = 'https://github.com/acme/fleet', branch = 'main' } = given
  return {
    fleet: { url, branch, commit, tree: treeOf(given.fleet) },
    sources: (given.sources ?? []).map(source => ({
      url: source.url,
      ref: source.ref ?? { branch: 'main' },
      commit: source.commit ?? 'a'.repeat(40),
      tree: treeOf(source.files),
    })),
    opaque: given.opaque ?? [],
    disabledRules: given.disabledRules ?? [],
  }
}

export function fleetOf(given: Given): Fleet {
  return buildFleet(inputOf(given))
}

/** Evaluates a fleet, against a base where one is given; `changed`: the repository that the change is in. */
export function evaluationOf(
  given: Given,
  options: { base?: Given; baseline?: Baseline; changed?: string; today?: string } = {},
): Evaluation {
  const { base, baseline, changed, today } = options
  const input = { ...inputOf(given), ...(base ? { config: inputOf(base).fleet.tree } : {}) }
  return evaluateFleet(buildFleet(input), {
    revisionSet: revisionSetOf(input),
    ...(base ? { base: fleetOf(base) } : {}),
    ...(baseline ? { baseline } : {}),
    ...(changed === undefined ? {} : { changed }),
    ...(today === undefined ? {} : { today }),
  })
}

/** `rule file:line` of what is new, for short expectations. */
export function said(evaluation: Evaluation): string[] {
  const { violations, errors } = evaluation.verdict
  // objects of tests are as short as they can be: what the API server would still ask of them is held in test/rules/schema
  const compared = violations.filter(({ rule }) => rule !== 'schema-mismatch')
  return [
    ...compared.filter(v => v.state === 'new').map(v => `${v.rule} ${v.origin.file}:${v.origin.line}`),
    ...errors.filter(e => e.state === 'new').map(e => `error ${e.code} ${e.origin.file}:${e.origin.line}`),
  ]
}
