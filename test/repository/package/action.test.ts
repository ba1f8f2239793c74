import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { git, repository, scratch, write } from '../../surface/cli/run-main.ts'

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

const root = join(import.meta.dirname, '../../..')
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
  const program = join(root, 'src/surface/cli/bailiwick.js')
  const values: Record<string, string> = { 'github.action_path': root, 'steps.install.outputs.program': program }
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

describe('the step that installs', () => {
  const step = action.runs.steps.find(({ id }) => id === 'install')!
  const version: string = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version
  const [released, other] = ['a'.repeat(40), 'b'.repeat(40)] as const

  /** With a `gh` that knows these commits, and fails at `broken`; what gh and npm were asked is in `asked`. */
  function install(ref: string, commits: Readonly<Record<string, string>>, broken = 'nothing') {
    const folder = scratch()
    const known = Object.entries(commits).map(([name, sha]) => `*"/commits/${name} --jq"*) echo ${sha} ;;`)
    const gh = `case "$*" in *"${broken}"*) exit 1 ;; ${known.join(' ')} api*) echo '{"message":"No commit found"}'; exit 1 ;; esac`
    for (const [name, script] of [
      ['gh', gh],
      ['npm', 'true'],
    ] as const) {
      const text = `#!/bin/bash\necho "${name} $*" >>${join(folder, 'asked')}\n${script}\n`
      writeFileSync(join(folder, name), text, { mode: 0o755 })
    }
    const output = join(folder, 'output')
    writeFileSync(output, '')
    const { status, stdout } = spawnSync('bash', ['-c', step.run], {
      encoding: 'utf8',
      env: {
        ...{
          PATH: `${folder}:${process.env.PATH}`,
          RUNNER_TEMP: folder,
          GITHUB_OUTPUT: output,
          BAILIWICK_ACTION: root,
        },
        ...{ ACTION_REF: ref, ACTION_REPOSITORY: 'acme/bailiwick', GH_TOKEN: 'secret' },
      },
    })
    const asked = readFileSync(join(folder, 'asked'), 'utf8').replaceAll(folder, '.').trim().split('\n')
    return { status, stdout, asked, program: readFileSync(output, 'utf8').replace(folder, '.') }
  }
  const FROM_SOURCES = `program=${join(root, 'src/surface/cli/bailiwick.js')}\n`
  const tag = `v${version}`

  test('its environment is what action.yml gives it', () => {
    expect(Object.keys(step.env!).sort()).toEqual(['ACTION_REF', 'ACTION_REPOSITORY', 'BAILIWICK_ACTION', 'GH_TOKEN'])
  })

  test('before the first release, and at a commit that is none: the sources, and a notice', () => {
    for (const commits of [{ main: other }, { main: other, [tag]: released }]) {
      const { status, stdout, asked, program } = install('main', commits)
      expect({ status, program, last: asked.at(-1) }).toEqual({
        ...{ status: 0, program: FROM_SOURCES, last: 'npm ci --no-audit --no-fund --loglevel=error' },
      })
      expect(stdout).toMatch(/^::notice::Bailiwick runs from its sources.* release v\d/m)
      expect(asked.join('\n')).not.toContain('release download')
    }
  })

  test.each([tag, released])('at a release, by %s: its package, after its attestation', ref => {
    const { status, asked, program } = install(ref, { [tag]: released, [released]: released })
    const tgz = `./bailiwick-${version}/bailiwick-${version}.tgz`
    expect([status, program]).toEqual([0, `program=./bailiwick-${version}/node_modules/bailiwick/bailiwick.js\n`])
    expect(asked.filter(line => !line.startsWith('gh api'))).toEqual([
      `gh release download ${tag} --repo acme/bailiwick --pattern bailiwick-${version}.tgz --dir ./bailiwick-${version} --clobber`,
      `gh attestation verify ${tgz} --repo acme/bailiwick --source-ref refs/tags/${tag} --signer-workflow acme/bailiwick/.github/workflows/release.yml`,
      expect.stringMatching(
        /^npm install --prefix \S+ --no-audit --no-fund --loglevel=error \S+\.tgz node@\d+\.\d+\.\d+$/,
      ),
    ])
  })

  test.each(['release download', 'attestation verify'])('a release whose %s fails is not installed', broken => {
    const { status, asked, program } = install(tag, { [tag]: released }, broken)
    expect([status, program]).toEqual([1, ''])
    expect(asked.filter(line => line.startsWith('npm'))).toEqual([])
  })
})
