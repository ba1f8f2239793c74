import { parseArgs } from 'node:util'
import { findProgram, programs } from '../../test/repository/runner/programs.ts'
import { holdYaml } from './yaml-cases.ts'

/** `npm run differential:yaml -- [--cases N] [--seed S]`: texts through our YAML reader and kustomize's. Fails where ours is wrong. */
function main(): number {
  const { values } = parseArgs({
    options: { cases: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
  })
  const program = findProgram('go-yaml')
  if (!program) {
    console.error(`go-yaml is missing: ${programs['go-yaml'].get}`)
    return 2
  }
  const { equal, bothRefuse, refused, wrong } = holdYaml(program, Number(values.seed), Number(values.cases))
  console.log(`${equal} equal, ${bothRefuse} both refuse, ${refused} refused, ${wrong.length} wrong`)
  const shortest = wrong.toSorted((a, b) => a.text.length - b.text.length).slice(0, 10)
  for (const { text, why } of shortest) console.log(`\n${JSON.stringify(text)}\n${why}`)
  return wrong.length > 0 ? 1 : 0
}

process.exitCode = main()
