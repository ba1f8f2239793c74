import type { Origin } from '../../origin.ts'
import type { BuildBudget } from '../model/build-budget.ts'
import type { Entry } from '../model/entry.ts'
import { containsPattern } from '../select/pattern.ts'

/** One entry of `images`: what images of that name become. */
export interface ImageEntry {
  readonly origin: Origin
  /** A regular expression, because kustomize does not escape it. */
  readonly name?: Entry
  readonly newName?: Entry
  readonly newTag?: Entry
  readonly digest?: Entry
  readonly tagSuffix?: Entry
}

const TAG = '(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?'

/**
 * Whether an image is one of those that an entry names: kustomize puts the name into a regular expression as it is, so a
 * dot stands for any character. Throws for an expression that Go refuses, where kustomize crashes.
 */
export function imageMatcher(name: Entry | undefined, budget: BuildBudget): (image: string) => boolean {
  const text = name?.text ?? ''
  if (/^[\w./:@-]*$/.test(text)) {
    const pattern = new RegExp(`^${text.replaceAll('.', '[^\\n]')}${TAG}$`, 'u')
    return image => pattern.test(image)
  }
  // a | in the name makes its ^ and $ count for a part only
  const searched = { text: `^${text}${TAG}$`, origin: name!.origin }
  return image => containsPattern(searched, image, budget)
}

/** An image reference with the parts of it replaced that `entry` gives; a tag replaces a digest and the reverse. */
export function renameImage(image: string, entry: ImageEntry): string {
  const { newTag, digest, tagSuffix } = entry
  const parts = splitImage(image)
  if (newTag || digest) {
    parts.tag = newTag?.text ?? ''
    parts.digest = digest?.text ?? ''
  } else if (tagSuffix) {
    parts.tag += tagSuffix.text
    parts.digest = ''
  }
  const name = entry.newName?.text ?? parts.name
  return `${name}${parts.tag && `:${parts.tag}`}${parts.digest && `@${parts.digest}`}`
}

/** `host:port/name:tag@digest`: what comes before the first slash is a host (api/internal/image, 5.8.1). */
function splitImage(image: string): { name: string; tag: string; digest: string } {
  const slash = Math.max(image.indexOf('/'), 0)
  const at = image.indexOf('@', slash)
  const colon = image.indexOf(':', slash)
  if (at < 0 && colon < 0) return { name: image, tag: '', digest: '' }
  if (at >= 0 && (at < colon || colon < 0)) return { name: image.slice(0, at), tag: '', digest: image.slice(at + 1) }
  const end = at < 0 ? image.length : at
  return { name: image.slice(0, colon), tag: image.slice(colon + 1, end), digest: at < 0 ? '' : image.slice(at + 1) }
}
