import { codeSpan as code } from '../code-span.ts'
import type { OnboardRequest } from '../request.ts'

/** Title and body of the pull request in the repository of a tenant. It names nothing of the fleet: other people read it. */
export function starterText(
  { branch, namespaces, team }: OnboardRequest,
  paths: readonly string[],
  check: string,
): { readonly title: string; readonly body: string } {
  const owners =
    team === undefined
      ? ['- For required reviews, add a `CODEOWNERS` and turn on *Require review from Code Owners*.']
      : ['- Turn on *Require review from Code Owners* for that branch, too.']
  const body = [
    `Files for a repository that Flux applies to the namespace ${code(namespaces[0]!)}:`,
    paths.map(path => `- ${code(path)}`).join('\n'),
    '### What an admin of this repository must set',
    [
      `- In *Settings > Rules > Rulesets*, require the status check ${code(check)} for the branch ${code(branch)}. Only a required check stops a merge. \`/bailiwick gate\` sets it, too.`,
      ...owners,
    ].join('\n'),
    'If this pull request is closed without a merge, it is not opened again.',
  ]
  return { title: 'Start with Flux', body: body.join('\n\n') }
}
