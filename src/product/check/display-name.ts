/** What people read when a file gives only a name: `personal-auto` becomes `Personal Auto`. */
export const displayNameOf = (name: string): string =>
  name
    .split(/[_\-\s]+/)
    .filter(word => word !== '')
    .map(word => word[0]!.toUpperCase() + word.slice(1))
    .join(' ') || name
