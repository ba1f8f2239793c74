interface Steps {
  /** Lines of `on`. */
  readonly on?: string
  /** Lines of `steps`, without their indentation. */
  readonly steps?: readonly string[]
  /** Lines of the job before its steps. */
  readonly job?: readonly string[]
  /** Lines at the top. */
  readonly top?: readonly string[]
}

export const CHECKOUT = '- uses: actions/checkout@v4'

/** A step that runs a script. */
export const run = (...script: string[]): string => ['- run: |', ...script.map(line => `    ${line}`)].join('\n')

/** A workflow with one job. */
export const workflowText = ({
  on = '{push: {branches: [main]}}',
  steps = [CHECKOUT, PUSH],
  job = [],
  top = [],
}: Steps = {}) =>
  [
    `on: ${on}`,
    ...top,
    'jobs:',
    '  push:',
    '    runs-on: ubuntu-latest',
    ...job.map(line => `    ${line}`),
    '    steps:',
    ...steps.flatMap(step => step.split('\n').map(line => `      ${line}`)),
    '',
  ].join('\n')

/** The push that the others differ from. */
export const PUSH = run(
  'flux push artifact oci://ghcr.io/acme/fleet:latest --path=./kubernetes \\',
  '  --source="$(git config --get remote.origin.url)" --revision="main@sha1:$(git rev-parse HEAD)"',
)
