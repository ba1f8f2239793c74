import type { Command, ListedCommand } from './command.ts'

/**
 * Every command, in the order of the help, with its summary. Each is loaded when it is run, because loading the others
 * takes longer than most commands run.
 */
export const COMMANDS: readonly ListedCommand[] = [
  ['check', 'Evaluate a fleet, or a change in a tenant repository', async () => (await import('./check.ts')).check],
  ['diff', 'Show how a change alters what the clusters get', async () => (await import('./check.ts')).diff],
  ['fix', 'Show or apply the safe fixes of findings', async () => (await import('./fix.ts')).fix],
  ['render', 'Render a directory, like kustomize build', async () => (await import('./render.ts')).render],
  ['build', 'Render each Flux Kustomization of a cluster', async () => (await import('./build.ts')).build],
  [
    'baseline',
    'List the existing violations of a fleet in a baseline file',
    async () => (await import('./baseline.ts')).baseline,
  ],
  ['waive', 'Write, list or remove waivers of the fleet', async () => (await import('./waive.ts')).waive],
  [
    'can-i',
    'Check whether an identity is allowed to do something on a cluster, and by which binding',
    async () => (await import('./can-i.ts')).canI,
  ],
  [
    'who-can',
    'List who is allowed to do something in a namespace, and by which binding',
    async () => (await import('./can-i.ts')).whoCanCommand,
  ],
  [
    'access',
    'List who can change a namespace: repository, Kustomization, account, role',
    async () => (await import('./access.ts')).access,
  ],
  [
    'audit',
    'Show which settings isolate the tenants of a cluster, and which are missing',
    async () => (await import('./audit.ts')).audit,
  ],
  ['explain', 'Explain a rule, or list all rules', async () => (await import('./explain.ts')).explain],
  ['graph', 'Draw the graph of a fleet for Mermaid', async () => (await import('./graph.ts')).graph],
  [
    'worker-rbac',
    'Print the least rights of a worker for a cluster',
    async () => (await import('./access.ts')).workerRbacCommand,
  ],
  ['trail', 'Verify or list the recorded decisions of a fleet', async () => (await import('./trail.ts')).trail],
  [
    'onboard',
    'Write the files of a new tenant into the working copy',
    async () => (await import('./onboard.ts')).onboard,
  ],
  ['sops', 'Make the decryption key of a cluster', async () => (await import('./sops.ts')).sops],
  [
    'offboard',
    'Remove a tenant from the working copy, in two changes',
    async () => (await import('./offboard.ts')).offboard,
  ],
  [
    'adopt',
    'Give Kustomizations that run as cluster-admin an account with the least rights, and prove it',
    async () => (await import('./adopt.ts')).adopt,
  ],
  [
    'lockdown',
    "Set the next flag of Flux's multi-tenancy lockdown on a cluster, if nothing breaks",
    async () => (await import('./adopt.ts')).lockdown,
  ],
  ['doctor', 'Check an installation of the App', async () => (await import('./doctor.ts')).doctor],
  ['mcp', 'Serve editors and agents over the Model Context Protocol', async () => (await import('./mcp.ts')).mcp],
]

/** The command of that name and its summary; undefined if there is none. */
export async function commandNamed(name: string): Promise<{ command: Command; summary: string } | undefined> {
  const found = COMMANDS.find(([known]) => known === name)
  return found && { command: await found[2](), summary: found[1] }
}
