import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { git, repository, scratch, write } from '../cli/run-main.ts'
import { fleetFiles } from '../fleets/read-fleet.ts'

interface Action {
  readonly inputs: Record<string, { readonly description: string; readonly default: string }>
  readonly outputs: Record<string, unknown>
  readonly runs: { readonly using: string; readonly steps: readonly Step[] }
}

interface Step {
  readonly id?: string
  readonly run: string
  readonly env?: Record<string, string>
}

const root = join(import.meta.dirname, '../..')
const action: Action = parse(readFileSync(join(root, 'action.yml'), 'utf8'))
const documented = readFileSync(join(root, 'docs/action.md'), 'utf8')

/** A fleet with a change that no one has committed: its step's files, after the step ran. */
function runStep(change: Record<string, string>, inputs: Record<string, string> = {}) {
  const workspace = scratch()
  repository(workspace, fleetFiles('acme/fleet'), 'https://github.com/acme/fleet')
  git(workspace, 'update-ref', 'refs/remotes/origin/main', 'HEAD')
  write(workspace, change)
  const files = scratch()
  const step = action.runs.steps.find(({ id }) => id === 'check')!
  const given = Object.fromEntries(Object.entries(action.inputs).map(([name, input]) => [name, input.default]))
  const values: Record<string, string> = { 'github.action_path': root }
  for (const [name, value] of Object.entries({ ...given, ...inputs })) values[`inputs.${name}`] = value
  const filled = Object.entries(step.env!).map(([name, text]) => [
    name,
    text.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => values[expression]!),
  ])
  const env = {
    ...{ PATH: process.env.PATH, HOME: files, GITHUB_BASE_REF: 'main' },
    ...{ GITHUB_OUTPUT: join(files, 'output'), GITHUB_STEP_SUMMARY: join(files, 'summary') },
    ...Object.fromEntries(filled),
  }
  const { status, stdout } = spawnSync('bash', ['-c', step.run], { cwd: workspace, env, encoding: 'utf8' })
  const read = (path: string) => readFileSync(path, 'utf8')
  return { status, stdout, workspace, output: read(env.GITHUB_OUTPUT), summary: read(env.GITHUB_STEP_SUMMARY) }
}

const SYNC = 'tenants/base/dev-team/sync.yaml'
const WITHOUT_ACCOUNT = fleetFiles('acme/fleet')[SYNC]!.replace('  serviceAccountName: dev-team\n', '')

describe('action.yml', { timeout: 120_000 }, () => {
  test('a change that passes', () => {
    const { status, output, summary } = runStep({ 'README.md': 'words' })
    expect([status, output]).toEqual([0, 'result=pass\n'])
    expect(summary).toMatch(/^### Bailiwick: pass\n\n {4}\S/)
  })

  test('a violation is an annotation, in the summary and in SARIF, and fails the step', () => {
    const { status, stdout, output, summary, workspace } = runStep({ [SYNC]: WITHOUT_ACCOUNT }, { sarif: 'out.sarif' })
    expect([status, output]).toEqual([1, 'result=violations\n'])
    expect(stdout).toMatch(/^::error .*file=tenants\/base\/dev-team\/sync\.yaml,line=\d/m)
    expect(summary).toContain('sa-required')
    const sarif = JSON.parse(readFileSync(join(workspace, 'out.sarif'), 'utf8'))
    expect(sarif.runs[0].results.map((result: { ruleId: string }) => result.ruleId)).toContain('sa-required')
  })

  test('what cannot be evaluated is an error, never a pass', () => {
    const { status, output } = runStep({}, { base: 'no-such-ref' })
    expect([status, output]).toEqual([2, 'result=error\n'])
  })

  test('inputs and names are no commands and no Markdown', () => {
    const hostile = '$(touch hacked);`touch hacked`"\'\n| x'
    const { status, workspace } = runStep({}, { base: hostile })
    expect(status).toBe(2)
    expect(git(workspace, 'status', '--porcelain')).toBe('')
    const name = 'tenants/base/dev-team/a ``` <img src=x>.yaml'
    const list = fleetFiles('acme/fleet')['tenants/base/dev-team/kustomization.yaml']!
    const shown = runStep({
      [name]: WITHOUT_ACCOUNT,
      'tenants/base/dev-team/kustomization.yaml': list.replace('sync.yaml', '"a ``` <img src=x>.yaml"'),
    })
    expect(shown.status).toBe(1)
    const lines = shown.summary.split('\n').filter(line => line.includes('<img'))
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toMatch(/^ {4}/)
  })

  test('arguments are one per line', () => {
    const { status, summary } = runStep({}, { arguments: '--cluster\nno such cluster\n' })
    expect(status).toBe(2)
    expect(summary).toContain('no such cluster')
  })

  test('every input and output is documented, and no step writes an input into its script', () => {
    for (const name of [...Object.keys(action.inputs), ...Object.keys(action.outputs)])
      expect(documented).toContain(`| \`${name}\` |`)
    expect(action.runs.using).toBe('composite')
    for (const { run } of action.runs.steps) expect(run).not.toContain('${{')
  })
})
