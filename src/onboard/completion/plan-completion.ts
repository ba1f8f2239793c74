import { BailiwickError } from '../../errors.ts'
import { overlayTree } from '../../fleet/bootstrap/overlay-tree.ts'
import type { Fleet } from '../../fleet/model/fleet.ts'
import type { Tree } from '../../git/tree.ts'
import { stringAt } from '../../kube/node.ts'
import { parseText } from '../../kube/yaml/parse-documents.ts'
import { addToList } from '../edit-kustomization.ts'
import { findConflicts } from '../find-conflicts.ts'
import { fleetAt } from '../fleet-at.ts'
import { clusterRoleOf } from '../request.ts'
import { kustomizationFile, type TenantLayout, tenantLayout } from '../tenant-layout.ts'
import { baseKustomization, syncManifest, tenantManifest } from '../tenant-manifests.ts'
import { addedTo, type CompletionFile, editOf, textOf } from './completion-file.ts'
import { type FleetCustoms, fleetCustoms } from './fleet-customs.ts'
import { type HandMadeTenant, handMadeTenant, pieceName } from './hand-made-tenant.ts'
import { type Listings, listingsOf } from './listings-of.ts'
import { newFolders } from './new-folders.ts'
import { readPieces, type TenantPieces } from './read-pieces.ts'
import { whyNotComplete } from './why-not-complete.ts'

/** What a tenant lacks that a change adds by hand. */
export interface Completion {
  readonly tenant: string
  readonly folder: string
  /** The objects and entries that are missing, as people name them. */
  readonly missing: readonly string[]
  readonly files: readonly CompletionFile[]
  /** The sealed Secret of its source, which only people can make; its file. */
  readonly secret?: { readonly name: string; readonly namespace: string; readonly url: string; readonly file: string }
  /** Kustomizations that could list the tenant, where it is not clear which should. */
  readonly choices: Listings['choices']
  /** Rights of other tenants that the RoleBinding among the files does not give, and the role that it gives. */
  readonly notCopied?: { readonly grants: FleetCustoms['grants']; readonly role: string }
}

/** A change of a fleet's own repository. `cluster`: who lists a new tenant, where people said so. */
interface CompletionQuestion {
  readonly before: Tree
  readonly after: Tree
  readonly url: string
  readonly branch: string
  readonly cluster?: string
}

/**
 * What new tenants of a change lack, by name; only what is certain: the tenant's objects agree with each other and with the
 * fleet's other tenants, nothing of it belongs to somebody, and the complete fleet renders with every other object as it was.
 */
export function planCompletion(question: CompletionQuestion): Completion[] {
  const { before, after, url, branch } = question
  const folders = newFolders(before, after)
  if (folders.length === 0) return []
  const fleet = fleetAt(before, url, branch)
  const layouts = fleet.clusters.flatMap(({ name }) => layoutOf(fleet, before, url, name))
  const drafts = folders.flatMap(folder => {
    const own = layouts.filter(({ base }) => folder.base === base)
    return own.length === 0 ? [] : completionOf(question, fleet, own, folder.path)
  })
  if (drafts.length === 0) return []
  const now = fleetAt(after, url, branch)
  const then = fleetAt(withDrafts(after, drafts), url, branch)
  return drafts.flatMap(draft => {
    const isFine = (cluster?: string) => whyNotComplete(now, then, draft, cluster) === undefined
    if (draft.choices.length === 0) return isFine() ? [draft] : []
    const choices = draft.choices.filter(({ cluster }) => isFine(cluster))
    return choices.length === 0 ? [] : [{ ...draft, choices }]
  })
}

/** Where it is open who lists a tenant, all do that could: each is looked at alone. */
function withDrafts(tree: Tree, drafts: readonly Completion[]): Tree {
  const files = drafts.flatMap(({ files, choices }) => [...files, ...choices.map(({ edit }) => edit)])
  return overlayTree(tree, new Map(files.map(({ path, content }) => [path, content])))
}

/** A cluster whose layout is not clear is none for which anything is certain. */
function layoutOf(fleet: Fleet, tree: Tree, url: string, cluster: string): TenantLayout[] {
  return unless(() => [tenantLayout(fleet, tree, url, cluster)]) ?? []
}

function completionOf(
  question: CompletionQuestion,
  fleet: Fleet,
  layouts: readonly TenantLayout[],
  folder: string,
): Completion[] {
  const { after, url, branch } = question
  const name = folder.slice(folder.lastIndexOf('/') + 1)
  const kustomization = kustomizationFile(after, folder)
  return (
    unless(() => {
      const pieces = readPieces(after, folder, kustomization)
      const customs = fleetCustoms(fleet, layouts)
      const made = handMadeTenant(name, pieces.objects, customs)
      if (!made) return []
      // what belongs to somebody is never given away because a file of it is missing
      findConflicts(fleet, made.request, { url, branch }, new Set())
      const { objects, texts } = missingObjects(made, pieces, kind => customs.fileOf(kind))
      const listings = listingsOf(after, layouts, name, question.cluster)
      const own = withObjects(after, { folder, kustomization, pieces }, texts)
      const files = [...own.files, ...listings.files]
      const secret = made.secret === undefined ? {} : { secret: secretOf(made, folder) }
      const missing = [...objects, ...own.missing, ...listings.missing]
      const isDone = missing.length === 0 && made.secret === undefined && listings.choices.length === 0
      if (isDone) return []
      const rights = notCopied(made, customs)
      return [{ tenant: name, folder, missing, files, choices: listings.choices, ...secret, ...rights }]
    }) ?? []
  )
}

/** Empty if the tenant has its own RoleBinding, or if the others have no other rights. */
function notCopied({ request, has }: HandMadeTenant, { grants }: FleetCustoms): Pick<Completion, 'notCopied'> {
  const role = clusterRoleOf(request)
  const others = grants.filter(one => one.kind !== 'RoleBinding' || one.role !== role)
  const isWritten = has.has(pieceName({ kind: 'RoleBinding', namespace: request.namespaces[0]!, name: '' }))
  return isWritten || others.length === 0 ? {} : { notCopied: { grants: others, role } }
}

/** Undefined where the result would not be certain: it throws an error of ours. */
function unless<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof BailiwickError) return undefined
    throw error
  }
}

const secretOf = ({ request, secret }: HandMadeTenant, folder: string) => ({
  name: secret!,
  namespace: request.namespaces[0]!,
  url: request.url,
  file: `${folder}/auth.yaml`,
})

/** Objects that are not written, by the name of the file in which this fleet's tenants have them. */
function missingObjects(
  { request, has }: HandMadeTenant,
  pieces: TenantPieces,
  fileOf: (kind: string) => string | undefined,
) {
  const objects: string[] = []
  const texts = new Map<string, string>()
  const wanted = [
    ...documentsOf(tenantManifest(request)).map(one => ({ ...one, usual: 'rbac.yaml' })),
    ...documentsOf(syncManifest(request)).map(one => ({ ...one, usual: 'sync.yaml' })),
  ]
  const present = new Set(pieces.objects.map(({ file }) => file))
  const listed = pieces.listed?.filter(file => /^[A-Za-z0-9._-]+\.ya?ml$/.test(file) && !present.has(file)) ?? []
  for (const { piece, text, usual } of wanted) {
    // a source of another kind is a source
    const isSource = /Repository$/.test(piece.kind)
    if (has.has(pieceName(piece)) || (isSource && [...has].some(one => /^\w+Repository /.test(one)))) continue
    const learned = fileOf(piece.kind) ?? usual
    // a file that is listed and not there is the one that was forgotten
    const file = listed.length === 1 && !present.has(learned) ? listed[0]! : learned
    objects.push(`${piece.kind} ${piece.namespace === '' ? '' : `${piece.namespace}/`}${piece.name}`)
    texts.set(file, `${texts.get(file) ?? ''}${text}`)
  }
  return { objects, texts }
}

function documentsOf(manifests: string) {
  return manifests
    .split(/^(?=---\n)/m)
    .filter(text => text !== '')
    .map(text => {
      const [root] = parseText(text, (line, column) => ({ repository: '', file: '', line, column })).documents
      const field = (...path: string[]) => stringAt(root, path) ?? ''
      const piece = {
        kind: field('kind'),
        namespace: field('metadata', 'namespace'),
        name: field('metadata', 'name'),
      }
      return { piece, text }
    })
}

interface TenantFolder {
  readonly folder: string
  readonly kustomization: string | undefined
  readonly pieces: TenantPieces
}

/** The files of the folder with these objects, all of them listed. */
function withObjects(tree: Tree, { folder, kustomization, pieces }: TenantFolder, texts: ReadonlyMap<string, string>) {
  const files = [...texts].map(([name, text]) => addedTo(tree, `${folder}/${name}`, text))
  const present = [...new Set([...pieces.objects.map(({ file }) => file), ...texts.keys()])].sort()
  if (kustomization === undefined) {
    const path = `${folder}/kustomization.yaml`
    return { files: [...files, addedTo(tree, path, baseKustomization(present))], missing: [path] }
  }
  const old = textOf(tree, kustomization)
  // what else lies there may be a patch: only files with a tenant's own objects are listed
  const unlisted = present.filter(name => texts.has(name) && !pieces.listed?.includes(name))
  if (unlisted.length === 0) return { files, missing: [] }
  const text = unlisted.reduce((here, name) => addToList({ path: kustomization, text: here }, 'resources', name), old)
  return {
    files: [...files, editOf(kustomization, old, text)],
    missing: unlisted.map(name => `${name} in ${kustomization}`),
  }
}
