import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Shell, stepsOf } from './run-page.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** What stands in the home of a reader before the first command of each page whose commands are run. */
export const PAGE_WORLDS: Readonly<Record<string, (shell: Shell, home: string) => void>> = {
  'docs/tutorial.md': () => {},
  'docs/tasks.md': inTutorial,
  'docs/tutorial-kind.md': bootstrapped,
}

/** The fleet of the tutorial with its two tenants, before anything of it is changed. */
function inTutorial(shell: Shell): void {
  const page = readFileSync(join(ROOT, 'docs/tutorial.md'), 'utf8')
  for (const { commands } of stepsOf(page).slice(0, 3)) must(shell, commands)
}

/** The clones of step 2: what `flux bootstrap` writes into the fleet, and empty repositories of the tenants. */
function bootstrapped(shell: Shell, home: string): void {
  const written = 'clusters/staging/flux-system'
  cpSync(join(ROOT, 'test/fleet/fleets/acme/fleet', written), join(home, 'fleet', written), { recursive: true })
  const head = ['apiVersion: kustomize.config.k8s.io/v1beta1', 'kind: Kustomization', 'resources:']
  const own = [...head, '  - gotk-components.yaml', '  - gotk-sync.yaml', '']
  writeFileSync(join(home, 'fleet', written, 'kustomization.yaml'), own.join('\n'))
  for (const name of ['fleet', 'shop', 'blog']) {
    mkdirSync(join(home, name), { recursive: true })
    const remote = `git remote add origin https://github.com/acme/${name}`
    must(
      shell,
      `cd '${home}/${name}' && git init -q -b main && ${remote} && git add -A && git commit -q --allow-empty -m First`,
    )
  }
  must(shell, `cd '${home}'`)
}

function must(shell: Shell, commands: string): void {
  const { code, stderr } = shell.run(commands)
  if (code !== 0) throw new Error(`exit code ${code} of ${commands}\n${stderr}`)
}
