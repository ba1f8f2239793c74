import { relative, sep } from 'node:path'
import { BailiwickError } from '../errors.ts'

/** `directory` as a path below `root` ('' for the root itself). Throws `usage` where it is not below. */
export function directoryBelow(root: string, directory: string): string {
  const path = relative(root, directory)
  if (path !== '..' && !path.startsWith(`..${sep}`)) return path.split(sep).join('/')
  throw new BailiwickError('usage', `${directory} is not below ${root}`, {
    fix: 'Name a root that holds the directory.',
  })
}
