// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how workflows write what they are told
import { expect, test } from 'vitest'
import { ociReference } from '../../../src/fleet/artifacts/oci-reference.ts'
import { publishedAt } from '../../../src/fleet/artifacts/published-artifacts.ts'
import { treeOf } from '../../git/tree-of.ts'
import { CHECKOUT, PUSH, run, workflowText } from './workflow-text.ts'

const repository = { url: 'https://github.com/acme/fleet', branch: 'main' }

/** The folder at an address, or why there is none. */
function found(
  text: string,
  address = 'ghcr.io/acme/fleet:latest',
  more: Record<string, string> = {},
): string | undefined {
  const tree = treeOf({ '.github/workflows/push.yaml': text, ...more })
  const { repository: name, tag } = ociReference(address)!
  const published = publishedAt(tree, repository, { repository: name, tag: tag! })
  if (published === undefined) return undefined
  if ('why' in published) return `not known: ${published.why}`
  return `./${published.folder}${published.ignore ? ` without ${published.ignore.join(' ')}` : ''}`
}

const pushing = (...lines: string[]) => workflowText({ steps: [CHECKOUT, run(...lines)] })
const flux = (address: string, path = './kubernetes') =>
  `flux push artifact ${address} --path ${path} --source x --revision y`

test.each<[string, string]>([
  ['a literal command', workflowText()],
  [
    'a tag that is given afterwards',
    pushing(
      flux('oci://ghcr.io/acme/fleet:$(git rev-parse --short HEAD)'),
      'flux tag artifact oci://ghcr.io/acme/fleet:$(git rev-parse --short HEAD) --tag latest',
    ),
  ],
  [
    'a tag in the next step',
    workflowText({
      steps: [
        CHECKOUT,
        run(flux('"$REPO:${GITHUB_SHA::7}"')),
        run('flux tag artifact "$REPO:${GITHUB_SHA::7}" --tag=latest --tag=x'),
      ],
      job: ['env: {REPO: "oci://ghcr.io/${{ github.repository }}"}'],
    }),
  ],
  [
    'the owner and the name',
    pushing(flux('oci://ghcr.io/${{ github.repository_owner }}/${{ github.event.repository.name }}:latest')),
  ],
  [
    'variables of the workflow',
    workflowText({
      top: ['env: {REPO: "oci://ghcr.io/acme/fleet", FOLDER: kubernetes}'],
      steps: [CHECKOUT, run(flux('${REPO}:latest', './$FOLDER/'))],
    }),
  ],
  [
    'the branch in the folder of the workspace',
    pushing('cd kubernetes', flux('oci://ghcr.io/acme/fleet:latest', '$GITHUB_WORKSPACE/kubernetes')),
  ],
  [
    'a working directory',
    workflowText({
      steps: [
        CHECKOUT,
        '- working-directory: kubernetes\n  run: flux push artifact oci://ghcr.io/acme/fleet:latest --path=. --source=a --revision=b',
      ],
    }),
  ],
  [
    'the action',
    workflowText({
      steps: [
        CHECKOUT,
        '- uses: controlplaneio-fluxcd/distribution/actions/push@main\n  with: {repository: "ghcr.io/${{ github.repository }}", path: ./kubernetes, diff-tag: latest}',
      ],
    }),
  ],
  [
    'an output of a step before',
    workflowText({
      on: '{workflow_dispatch: {}, push: {branches: [main], tags: ["*"]}}',
      steps: [
        CHECKOUT,
        '- id: prep\n  run: |\n    TAG=latest\n    if [[ $GITHUB_REF == refs/tags/* ]]; then\n      TAG=latest-stable\n    fi\n    echo "tag=${TAG}" >> $GITHUB_OUTPUT',
        run(flux('oci://ghcr.io/acme/fleet:${{ steps.prep.outputs.tag }}')),
      ],
    }),
  ],
  [
    'a matrix',
    workflowText({
      job: ['strategy: {matrix: {name: [fleet, other]}}'],
      steps: [CHECKOUT, run(flux('oci://ghcr.io/acme/${{ matrix.name }}:latest'))],
    }),
  ],
  [
    'a digest that is signed',
    pushing(
      'digest=$(flux push artifact oci://ghcr.io/acme/fleet:latest --path=./kubernetes --source=a --revision=b -o json | jq -r .digest)',
      'cosign sign --yes "ghcr.io/acme/fleet@$digest"',
    ),
  ],
  [
    'a check of the manifests before',
    workflowText({
      steps: [
        CHECKOUT,
        '- uses: docker/login-action@v3',
        run(
          'set -euo pipefail',
          'kustomize build ./kubernetes > /dev/null || exit 1',
          'echo done >> $GITHUB_STEP_SUMMARY',
        ),
        PUSH,
      ],
    }),
  ],
  [
    'conditions that hold',
    workflowText({
      on: '{push: {branches: [main]}, pull_request: {}}',
      job: ["if: github.event_name == 'push' && github.ref == 'refs/heads/main'"],
    }),
  ],
  ['what ran before decides', workflowText({ job: ["if: needs.filter.outputs.changed == 'true'"] })],
  [
    'branches by a pattern, told apart by a condition',
    workflowText({ on: '{push: {branches: ["**"]}}', job: ["if: ${{ github.ref_name == 'main' }}"] }),
  ],
  [
    'a script that goes on afterwards',
    workflowText({
      steps: [CHECKOUT, PUSH, run('for one in a b; do echo $one; done', 'sed -i s/a/b/ kubernetes/a.yaml')],
    }),
  ],
  [
    'a difference that is looked for first',
    pushing(
      'flux diff artifact oci://ghcr.io/acme/fleet:latest --path ./kubernetes || \\',
      flux('oci://ghcr.io/acme/fleet:latest'),
    ),
  ],
  [
    'a test that decides about another tag',
    pushing(
      flux('oci://ghcr.io/acme/fleet:latest'),
      '[[ $GITHUB_REF == refs/tags/* ]] && flux tag artifact oci://ghcr.io/acme/fleet:latest --tag latest',
    ),
  ],
  [
    'a variable for later steps',
    workflowText({
      steps: [CHECKOUT, run('echo "REPO=oci://ghcr.io/acme/fleet" >> $GITHUB_ENV'), run(flux('$REPO:latest'))],
    }),
  ],
])('%s says what the artifact holds', (_name, text) => {
  expect(found(text)).toBe('./kubernetes')
})

test('what the command leaves out, and all of the repository', () => {
  expect(found(pushing(`${flux('oci://ghcr.io/acme/fleet:latest')} --ignore-paths="a.yaml,b/"`))).toBe(
    './kubernetes without a.yaml b/',
  )
  expect(found(pushing(flux('oci://ghcr.io/acme/fleet:latest', '.')))).toBe('./')
})

test.each<[string, string, string | undefined]>([
  ['a comment', pushing(`# ${flux('oci://ghcr.io/acme/fleet:latest')}`), undefined],
  ['a text that is printed', pushing(`echo ${flux('oci://ghcr.io/acme/fleet:latest')}`), undefined],
  ['a step that is switched off', workflowText({ steps: [CHECKOUT, `${PUSH}\n  if: false`] }), undefined],
  ['a job that is switched off', workflowText({ job: ['if: ${{ false }}'] }), undefined],
  ['a pull request alone', workflowText({ on: '{pull_request: {branches: [main]}}' }), undefined],
  ['another branch alone', workflowText({ on: '{push: {branches: [release]}}' }), undefined],
  ['git tags alone', workflowText({ on: '{push: {tags: ["*"]}}' }), undefined],
  ['a call of another workflow', workflowText({ on: '{workflow_call: {}}' }), undefined],
  ['nothing that GitHub runs', workflowText({ on: '{push: {branches: [main]}}', steps: [CHECKOUT] }), undefined],
  ['an exit before', pushing('exit 0', flux('oci://ghcr.io/acme/fleet:latest')), undefined],
  ['pull requests, too', workflowText({ on: '[push, pull_request]' }), 'also pushes there'],
  ['every branch', workflowText({ on: 'push' }), 'also pushes there'],
  ['branches by a pattern', workflowText({ on: '{push: {branches: [main, "release/**"]}}' }), 'also pushes there'],
  ['git tags, too', workflowText({ on: '{push: {branches: [main], tags: ["v*"]}}' }), 'also pushes there'],
  ['another event', workflowText({ on: '{push: {branches: [main]}, issue_comment: {}}' }), 'also pushes there'],
  ['a condition that is not known', workflowText({ job: ["if: vars.PUSH == 'yes'"] }), 'condition of the'],
  ['an actor', workflowText({ job: ["if: github.actor == 'mallory'"] }), 'condition of the'],
  [
    'a file that is made before',
    workflowText({ steps: [CHECKOUT, run('kustomize build . > kubernetes/all.yaml'), PUSH] }),
    'writes the file kubernetes/all.yaml',
  ],
  [
    'a file that is made in the same script',
    pushing('envsubst < x.tpl > kubernetes/x.yaml', flux('oci://ghcr.io/acme/fleet:latest')),
    'redirects input',
  ],
  [
    'a file that is edited before',
    workflowText({ steps: [CHECKOUT, run('sed -i s/a/b/ kubernetes/a.yaml'), PUSH] }),
    'runs `sed -i` earlier',
  ],
  [
    'a file that is edited inside of a command',
    pushing('X=$(sed -i s/a/b/ kubernetes/a.yaml)', flux('oci://ghcr.io/acme/fleet:latest')),
    'runs `sed -i` earlier',
  ],
  [
    'a script of the repository before',
    workflowText({ steps: [CHECKOUT, run('./hack/render.sh'), PUSH] }),
    'runs `./hack/render.sh` earlier',
  ],
  [
    'an action that is not known',
    workflowText({ steps: [CHECKOUT, '- uses: mallory/render@v1', PUSH] }),
    'uses mallory/render earlier',
  ],
  [
    'an action of the repository',
    workflowText({ steps: [CHECKOUT, '- uses: ./.github/actions/render', PUSH] }),
    'uses ./.github/actions/render earlier',
  ],
  ['no checkout', workflowText({ steps: [PUSH] }), 'no earlier step checks'],
  ['another ref', workflowText({ steps: [`${CHECKOUT}\n  with: {ref: other}`, PUSH] }), 'not only the commit itself'],
  [
    'another repository',
    workflowText({ steps: [`${CHECKOUT}\n  with: {repository: mallory/fleet}`, PUSH] }),
    'not only the commit itself',
  ],
  [
    'another commit',
    workflowText({ steps: [CHECKOUT, run('git checkout HEAD~5'), PUSH] }),
    'runs `git checkout` earlier',
  ],
  [
    'a text that anybody writes',
    workflowText({ steps: [CHECKOUT, run('echo "${{ github.event.head_commit.message }}"'), PUSH] }),
    'puts untrusted text',
  ],
  ['a loop', pushing('for one in a; do', flux('oci://ghcr.io/acme/fleet:latest'), 'done'), 'has `for`'],
  ['a here document', pushing('cat <<EOF > x', flux('oci://ghcr.io/acme/fleet:latest'), 'EOF'), 'redirects input'],
  ['a path that is not known', pushing(flux('oci://ghcr.io/acme/fleet:latest', '$FOLDER')), 'unknown'],
  ['a path outside', pushing(flux('oci://ghcr.io/acme/fleet:latest', '../other')), 'outside of the checkout'],
  ['standard input', pushing(`kustomize build . | ${flux('oci://ghcr.io/acme/fleet:latest', '-')}`), 'standard input'],
  [
    'links that are resolved',
    pushing(`${flux('oci://ghcr.io/acme/fleet:latest')} --resolve-symlinks`),
    '--resolve-symlinks',
  ],
  [
    'a tag for what was not pushed',
    pushing('flux tag artifact oci://ghcr.io/acme/fleet:v1 --tag latest'),
    'was not pushed directly before',
  ],
  ['another program', pushing('oras push ghcr.io/acme/fleet:latest ./kubernetes'), '`oras` pushes there'],
  [
    'another program afterwards',
    workflowText({ steps: [CHECKOUT, PUSH, run('crane copy ghcr.io/mallory/x ghcr.io/acme/fleet:latest')] }),
    '`crane` pushes there',
  ],
  [
    'two folders',
    pushing(flux('oci://ghcr.io/acme/fleet:latest'), flux('oci://ghcr.io/acme/fleet:latest', './other')),
    'several steps',
  ],
  ['another shell', workflowText({ steps: [CHECKOUT, `${PUSH}\n  shell: pwsh`] }), 'runs in pwsh'],
  [
    'a condition of the script that is not known',
    pushing('if [[ $X == y ]]; then', flux('oci://ghcr.io/acme/fleet:latest'), 'fi'),
    'condition of the',
  ],
  ['an address that is not known', pushing(flux('$REPO:latest')), 'address is unknown'],
  [
    'a name that hides the command',
    pushing('$FLUX push artifact oci://ghcr.io/acme/fleet:latest --path x'),
    'pushes there',
  ],
  [
    'a call by whatever calls it',
    workflowText({ on: '{push: {branches: [main]}, workflow_call: {}}' }),
    'also pushes there',
  ],
  [
    'a variable that another step set for itself',
    workflowText({
      job: ['env: {FOLDER: ./other}'],
      steps: [
        CHECKOUT,
        run('FOLDER=./kubernetes'),
        run(
          flux('oci://ghcr.io/acme/fleet:latest', '$FOLDER'),
          'flux push artifact oci://ghcr.io/acme/fleet:latest --path ./kubernetes',
        ),
      ],
    }),
    'several steps',
  ],
  [
    'a second checkout',
    workflowText({ steps: [CHECKOUT, run('./render.sh'), CHECKOUT, PUSH] }),
    'runs `./render.sh` earlier',
  ],
  [
    'programs of the repository',
    workflowText({ steps: [CHECKOUT, run('export PATH="$PWD/bin:$PATH"', flux('oci://ghcr.io/acme/fleet:latest'))] }),
    'the search path for programs',
  ],
  [
    'programs of the repository for later steps',
    workflowText({ steps: [CHECKOUT, run('echo "$PWD/bin" >> $GITHUB_PATH'), PUSH] }),
    'writes the file',
  ],
  ['programs by the environment', workflowText({ job: ['env: {BASH_ENV: ./env.sh}'] }), 'the search path for programs'],
  [
    'several words in a variable',
    workflowText({
      job: ['env: {ARGS: "oci://ghcr.io/acme/fleet:latest --path ./kubernetes"}'],
      steps: [CHECKOUT, run('flux push artifact $ARGS --source a --revision b')],
    }),
    'into words',
  ],
  ['a pattern of folders', pushing(flux('oci://ghcr.io/acme/fleet:latest', './kube*')), 'file name pattern'],
  [
    'a test that is not known',
    pushing(`[[ $X == y ]] && ${flux('oci://ghcr.io/acme/fleet:latest')}`),
    'condition of the',
  ],
  ['a test that fails', pushing(`[[ a == b ]] && ${flux('oci://ghcr.io/acme/fleet:latest')}`), undefined],
  ['what runs when something fails', pushing(`ls || ${flux('oci://ghcr.io/acme/fleet:latest')}`), 'condition of the'],
  [
    'a shell that reads a file first',
    workflowText({ steps: [CHECKOUT, `${PUSH}\n  shell: bash --rcfile env.sh {0}`] }),
    'runs in bash --rcfile',
  ],
  [
    'a file that a check writes',
    workflowText({ steps: [CHECKOUT, run('kustomize build . -okubernetes/all.yaml'), PUSH] }),
    'runs `kustomize build` earlier',
  ],
])('%s is no content of git', (_name, text, why) => {
  const told = found(text)
  if (why === undefined) expect(told).toBeUndefined()
  else expect(told).toContain(why)
})

test('a second workflow that pushes to the same address is asked, too', () => {
  const other = (text: string) => found(workflowText(), undefined, { '.github/workflows/other.yml': text })
  expect(other(pushing(flux('oci://ghcr.io/acme/fleet:latest', './other')))).toContain('several steps')
  expect(other(workflowText({ on: '{issues: {}}' }))).toContain('also pushes there')
  expect(other(pushing(flux('oci://ghcr.io/acme/other:latest', './other')))).toBe('./kubernetes')
  expect(other(pushing(flux('oci://ghcr.io/acme/fleet:staging', './other')))).toBe('./kubernetes')
  expect(other('on: [push\n# artifact ghcr.io/acme/fleet:latest\n')).toContain('cannot be read')
  expect(other('on: [push\n# artifact\n')).toBe('./kubernetes')
})

test.each([
  'oci://ghcr.io/Acme/fleet',
  'oci://GHCR.io/acme/fleet',
  'oci://ghcr.io/acme/../mallory/fleet',
  'oci://ghcr.io/acme//fleet',
  'oci://ghcr.io/acme/fleet@sha256:0',
  'oci://user@ghcr.io/acme/fleet',
  'oci://ghcr.io/acme/%66leet',
  'oci://acme/fleet',
  'oci://ghcr.io/acme/fleet:a:b',
  'oci://ghcr.io:0/acme/fleet',
  'oci://ghcr.io./acme/fleet',
  'https://ghcr.io/acme/fleet',
])('%s is no address that is read', address => {
  expect(ociReference(address)).toBeUndefined()
})
