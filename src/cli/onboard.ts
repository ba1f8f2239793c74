import { BailiwickError } from '../errors.ts'
import { openWorkingCopy } from '../git/working-copy.ts'
import { visible } from '../message/visible.ts'
import { kubeConfigSteps } from '../onboard/capsule-text.ts'
import { refuseOwnApp } from '../onboard/credential/refuse-own-app.ts'
import { fleetAt } from '../onboard/fleet-at.ts'
import { ONBOARD_USAGE, parseOnboardArguments, removedOption } from '../onboard/parse-command.ts'
import { onboardingDirectories, planOnboarding } from '../onboard/plan.ts'
import { type OnboardRequest, roleOf } from '../onboard/request.ts'
import type { Command } from './command.ts'
import { notFollowed } from './not-followed.ts'
import { repositoryAddress } from './repository-address.ts'
import { rootFolder } from './root-folder.ts'
import { type SecretOptions, sealTenant } from './seal-tenant.ts'
import { writeAllInside } from './write-inside.ts'

/** `bailiwick onboard`: writes into the working copy what the onboarding pull request would contain. */
export const onboard: Command = {
  name: 'onboard',
  usage: `${ONBOARD_USAGE}

  TENANT            name of the tenant
  --repo URL        https or ssh address of the tenant's repository
  --namespace NS    namespace of the tenant (repeatable)
  --cluster C       cluster of this fleet, by its name in the result of check (repeatable)
  --branch NAME     branch that the fleet follows (default: main)
  --path ./DIR      directory of the tenant's repository (default: its root)
  --tag, --semver, --commit, --digest VALUE
                    what to apply instead of a branch; an oci:// address needs one
  --role ROLE       tenant (default), cluster-admin, admin or edit, inside the namespaces
  --interval, --timeout DURATION, --prune, --wait BOOLEAN, --service-account NAME
                    as in the commands of the flux CLI
  --access HOW      credentials: none (default), deploy-key, token or github-app
  --username NAME, --password-file FILE|-
                    for token: encrypts it by .sops.yaml (default user: git)
  --app-id N, --app-installation-id N, --app-private-key FILE|-
                    for github-app: encrypts its key by .sops.yaml
  --decryption sops a decryption key for this tenant alone, encrypted by .sops.yaml
  --team ORG/TEAM   for CODEOWNERS in the template of the fleet

Without a file for the credentials, and for deploy-key, the commands to run are printed.`,
  async run(args, io) {
    const { rest, options } = takeSecretOptions(args)
    const asked = parseOnboardArguments(rest)
    const warning = removedOption(rest.join(' '))
    if (warning !== undefined) io.stderr(`warning: ${warning}\n`)
    refuseOwnApp(asked, Number((io.env ?? process.env).APP_ID) || undefined)
    const dir = await rootFolder(io.cwd)
    const tree = await openWorkingCopy(dir)
    const here = await repositoryAddress(dir, {})
    const { url, usual = here.branch } = here
    // the files are written on a branch of their own, as often as not, and merged into the one that clusters follow
    const branch = notFollowed([fleetAt(tree, url, here.branch)], here) ? usual : here.branch
    const directories = onboardingDirectories(asked, tree, url, branch)
    const { request, notes } = await sealTenant(asked, tree, directories, options, io)
    const plan = planOnboarding(request, tree, url, branch)
    const { files, summary } = plan
    await writeAllInside(dir, files)
    const lines = [
      ...files.map(file => `${file.change} ${visible(file.path)}`),
      ...[
        ...summary,
        ...(files.length === 0
          ? []
          : [...notes, ...roleNotes(request), ...kubeConfigSteps(plan.request, plan.capsule)]),
      ].map(note => visible(note)),
      files.length === 0
        ? `nothing to do: tenant ${request.tenant} is onboarded already`
        : `onboarded ${request.tenant}`,
    ]
    io.stdout(`${lines.join('\n')}\n`)
    return 0
  },
}

/** Warns about the role that `flux create tenant` writes, which grants more than most tenants need. */
function roleNotes(request: OnboardRequest): string[] {
  if (roleOf(request) !== 'cluster-admin') return []
  return [
    "cluster-admin allows everything inside the namespaces: quotas and the status of Flux's objects too. Without --role, a tenant does not have them.",
  ]
}

const SECRET_OPTIONS = ['--username', '--password-file', '--app-private-key'] as const

/** The options that only the command line has. */
function takeSecretOptions(args: readonly string[]): { rest: readonly string[]; options: SecretOptions } {
  const rest: string[] = []
  const found = new Map<string, string>()
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!
    const name = SECRET_OPTIONS.find(option => arg === option || arg.startsWith(`${option}=`))
    if (name === undefined) {
      rest.push(arg)
      continue
    }
    const value = arg === name ? args[++index] : arg.slice(name.length + 1)
    if (value === undefined || value === '' || found.has(name)) {
      const what = found.has(name) ? 'is given twice' : 'has no value'
      throw new BailiwickError('usage', `${name} ${what}`, { fix: 'Run bailiwick help onboard for its options.' })
    }
    found.set(name, value)
  }
  const [username, passwordFile, privateKeyFile] = SECRET_OPTIONS.map(name => found.get(name))
  return { rest, options: { username, passwordFile, privateKeyFile } }
}
