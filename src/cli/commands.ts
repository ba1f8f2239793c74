import type { Command } from './command.ts'

/**
 * Every command, in the order of the help, with what it does. Each is read when it is run: what the others need takes longer
 * to read than most commands take to run.
 */
export const COMMANDS: readonly (readonly [name: string, summary: string, load: () => Promise<Command>])[] = [
  ['check', 'Evaluate a fleet, or what a tenant would change in it', async () => (await import('./check.ts')).check],
  ['render', 'Show what a directory renders, like kustomize build', async () => (await import('./render.ts')).render],
  ['build', 'Show what each Flux Kustomization of a cluster renders', async () => (await import('./build.ts')).build],
  ['baseline', 'Write down the violations that stand in a fleet', async () => (await import('./baseline.ts')).baseline],
  [
    'can-i',
    'Say whether an identity may do something on a cluster, and through what',
    async () => (await import('./can-i.ts')).canI,
  ],
  [
    'access',
    'List who can change a namespace: repository, Kustomization, account, role',
    async () => (await import('./access.ts')).access,
  ],
  [
    'audit',
    'Show what keeps the tenants of a cluster apart, and what does not',
    async () => (await import('./audit.ts')).audit,
  ],
  [
    'onboard',
    'Write the files of a new tenant into the working copy',
    async () => (await import('./onboard.ts')).onboard,
  ],
]

/** The command that is called so, and what it does; undefined for none. */
export async function commandNamed(name: string): Promise<{ command: Command; summary: string } | undefined> {
  const found = COMMANDS.find(([known]) => known === name)
  return found && { command: await found[2](), summary: found[1] }
}
