import { codeWord, message } from '../../base/message.ts'
import { quoted } from '../../fleet/facts/shown.ts'
import type { FleetNode } from '../../fleet/model/fleet.ts'
import { type Rule, type RuleContext, Subject, type Violation } from '../model/rule.ts'

/** Overlays name no remote addresses. The renderer raises it. */
export const kustomizeRemoteBase: Rule = {
  id: 'kustomize-remote-base',
  severity: 'critical',
  title: 'Remote base',
  why: 'kustomize downloads a remote base, resource or file during the build. Bailiwick does not evaluate that content, and it can change at any time. Flux downloads files over http even with `--no-remote-bases`.',
  docs: 'Copy the files into the repository, or declare the other repository as a source with its own Kustomization.',
}

/** Overlays inflate no charts. The renderer raises it. */
export const kustomizeHelmInflate: Rule = {
  id: 'kustomize-helm-inflate',
  severity: 'high',
  title: 'Helm chart in a kustomization',
  why: '`helmCharts` makes kustomize download a chart and run helm. Flux rejects it.',
  docs: 'Use a HelmRelease with a HelmRepository.',
}

/** Plugins and functions do not run while rendering. The renderer raises it. */
export const kustomizePlugin: Rule = {
  id: 'kustomize-plugin',
  severity: 'critical',
  title: 'Plugin in a kustomization',
  why: 'A generator or transformer that is a program or a container runs code from the repository during the build.',
  docs: "Use kustomize's built-in generators and transformers.",
}

/** A directory has one kustomization file. The renderer raises it. */
export const kustomizeMultipleFiles: Rule = {
  id: 'kustomize-multiple-files',
  severity: 'medium',
  level: 'error',
  title: 'Two kustomization files in one directory',
  why: 'kustomization.yaml, kustomization.yml and Kustomization are all read. kustomize rejects a directory with two of them, and other programs pick one.',
  docs: 'Keep one of the files.',
}

/** No field is written in two spellings. The renderer raises it. */
export const kustomizeCaseVariantKey: Rule = {
  id: 'kustomize-case-variant-key',
  severity: 'high',
  title: 'Kustomization field in another case',
  why: 'Implementations disagree about which of two spellings of one field (`namespace` and `Namespace`) applies.',
  docs: 'Keep the field with its documented spelling.',
}

/** A patch changes something. */
export const patchUnmatched: Rule = {
  id: 'patch-unmatched',
  severity: 'low',
  level: 'warning',
  title: 'Patch without a matching object',
  why: 'kustomize does not report a `target` that selects no object: after a rename or a typo the patch, which may harden or restrict the object, is not applied.',
  source: 'kustomize, api/internal/builtins/PatchTransformer.go',
  docs: 'Correct the `target` of the patch, or remove the patch. In a Component or in spec.patches of a Flux Kustomization, a target without a plain name may match no object.',
  checkNode: unmatched,
}

function* unmatched(node: FleetNode, { index }: RuleContext): Generator<Violation> {
  for (const object of index.objectsOf(node.key)) {
    for (const { origin, target } of object.unmatched ?? []) {
      yield Subject.ofNode(node).violation(['spec', 'path'], `${origin.file} ${target}`, {
        origin,
        message: message`The target (${quoted('value', target)}) of a patch in ${quoted('path', origin.file)} matches no object, so the patch changes nothing. Allowed: a target that matches at least one object.`,
        fix: message`Correct ${codeWord('target')}, or remove the patch.`,
      })
    }
  }
}

/** Rendering stays within limits of time and size. The renderer raises it. */
export const renderLimits: Rule = {
  id: 'render-limits',
  severity: 'high',
  level: 'error',
  title: 'Render limit exceeded',
  why: 'A huge file, nested YAML aliases, overlays that refer to themselves or complex patterns stop the renderer. All other verdicts wait. kustomize crashes on such a build or does not finish. Bailiwick counts steps, so the same input always has the same result, and each tenant has a separate budget.',
  source: 'CVE-2022-24878, CVE-2022-36049',
  docs: 'Split large files, and keep files for clusters apart from other files.',
}

/** Rendered files are not Git LFS pointers. The renderer raises it. */
export const gitLfsPointer: Rule = {
  id: 'git-lfs-pointer',
  severity: 'medium',
  title: 'Deployed file in Git LFS',
  why: 'Git LFS keeps a pointer in git and the content elsewhere. Flux deploys the pointer, and reviewers see the content, which can change without a commit.',
  source: 'git-lfs docs/spec.md; source-controller does not fetch LFS objects',
  docs: 'Exclude manifests and generator files from the `filter=lfs` patterns in .gitattributes.',
}
