import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { withSpeedTable } from '../../../docs/speed-table.ts'
import { readConfig } from '../../../src/config.ts'
import { formats } from '../../../src/report/formats/formats.ts'
import { CHECK_NAME } from '../../../src/verdict/check-names.ts'
import { SAME_CASES } from '../../cluster/same-as-flux/cases.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { repository, run, scratch, write } from '../../surface/cli/run-main.ts'
import { environment } from '../../surface/config/environment-of.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')
const readme = read('README.md')

/** The fleet of acme, with these files changed. */
function fleet(changed: Readonly<Record<string, string>> = {}): string {
  return write(repository(scratch(), fleetFiles('acme/fleet'), 'https://github.com/acme/fleet'), changed)
}

const SYNC = 'tenants/base/dev-team/sync.yaml'
const withoutAccount = () => fleetFiles('acme/fleet')[SYNC]!.replace('  serviceAccountName: dev-team\n', '')

/** What leads to an exit code, in the words of README.md. */
const ENDS: Readonly<Record<string, () => ReturnType<typeof run>>> = {
  pass: () => run(fleet(), 'check'),
  'new violations': () => run(fleet({ [SYNC]: withoutAccount() }), 'check', '--base', 'HEAD'),
  'with `--fail-on-required-approval` also a change that needs the approval of a fleet admin': () => {
    const guarded = fleet({ '.github/bailiwick.yaml': 'profile: restricted\n' })
    return run(guarded, 'check', '--base', 'HEAD', '--fail-on-required-approval')
  },
  'something could not be evaluated': () => run(fleet({ [SYNC]: 'a: [\n' }), 'check'),
  'nothing was evaluated': () => run(fleet(), 'check', '--url', 'https://github.com/acme/other'),
  'the command line is wrong': () => run(fleet(), 'check', '--conquer'),
}

describe('README.md', () => {
  test('has the exit code of each end of `check`', async () => {
    const [table = ''] = /^\| exit code \|[\s\S]*?\n\n/m.exec(readme) ?? []
    const rows = [...table.matchAll(/^\| (\d) \| (.*) \|$/gm)].flatMap(([, code, ends = '']) =>
      ends.split(/; |, or |, /).map(end => [end, Number(code)] as const),
    )
    expect(rows.map(([end]) => end)).toEqual(Object.keys(ENDS))
    for (const [end, code] of rows) expect([end, (await ENDS[end]!()).code]).toEqual([end, code])
  })

  test('names the formats of programs, the port and the check', () => {
    const [, named = ''] = /^\| `bailiwick check --base main -o (.*) \|$/m.exec(readme) ?? []
    expect(named.match(/\b(?:json|sarif|github|junit|text)\b/g)).toEqual(
      [...formats.keys()].filter(name => name !== 'text'),
    )
    expect(readme).toContain(`forward to port ${readConfig(environment({ PORT: undefined })).port} of the web process`)
    expect(readme).toContain(`**Require the check** of every branch that clusters follow: \`${CHECK_NAME}\`,`)
  })

  test('has the speeds of bench/RESULTS.md (npm run generate)', () => {
    expect(withSpeedTable(readme, read('bench/RESULTS.md'))).toBe(readme)
    expect(() => withSpeedTable(readme, '')).toThrow('bench/RESULTS.md has no "verdict: 400 tenants')
  })

  test('counts the cases beside kustomize-controller', () => {
    expect(readme).toContain(`| ${Object.keys(SAME_CASES).length} cases with the same status, objects and events,`)
  })

  test('has about the minutes of the tests: their files begin three at a time on two cores', () => {
    const { quick } = JSON.parse(read('test/repository/runner/durations.json')) as { quick: Record<string, number> }
    const minutes = Object.values(quick).reduce((sum, seconds) => sum + seconds, 0) / 60 / 3
    const [, named] = /^`npm test` runs .*, in about (\d+) minutes on two cores\./m.exec(readme) ?? []
    expect(Number(named), `${minutes.toFixed(1)} minutes`).toBeGreaterThan(minutes * 0.7)
    expect(Number(named), `${minutes.toFixed(1)} minutes`).toBeLessThan(minutes * 1.4)
  })
})
