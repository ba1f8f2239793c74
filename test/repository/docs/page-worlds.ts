import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Shell, type Step, stepsOf } from './run-page.ts'

const ROOT = join(import.meta.dirname, '../../..')

/** The page whose commands are run, and the comment of the blocks of its last step, which begins in a home of its own. */
export const TUTORIAL = 'docs/tutorial.md'
export const ON_KIND = 'run by test/repository/docs/tutorial-kind.test.ts'

/** What stands in the home of a reader before the first command of each part of the page, by the comment of the part's blocks. */
export const PAGE_WORLDS: ReadonlyMap<string | undefined, (shell: Shell, home: string) => void> = new Map([
  [undefined, () => {}],
  [ON_KIND, onKind],
])

/** The blocks of steps 2 and 3, which create the fleet and its two tenants. */
function creation() {
  const [files, platform, onboarding, clones, deployments] = stepsOf(readFileSync(join(ROOT, TUTORIAL), 'utf8'))
  return { files, platform, onboarding, clones, deployments } as Readonly<Record<string, Step>>
}

/** The fleet of the tutorial with its two tenants, before anything of it is changed. */
export function inTutorial(shell: Shell): void {
  for (const { commands } of Object.values(creation())) must(shell, commands)
}

/** The same in clones of what `flux bootstrap` and GitHub created. */
function onKind(shell: Shell, home: string): void {
  bootstrapped(shell, home)
  const { platform, onboarding, deployments } = creation()
  must(shell, `cd fleet\n${platform!.commands}`)
  for (const { commands } of [onboarding!, deployments!]) must(shell, commands)
}

/** What `flux bootstrap` writes into the fleet, and empty repositories of the tenants. */
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
