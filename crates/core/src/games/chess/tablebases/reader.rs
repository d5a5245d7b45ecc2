//! How table files are read: small ones from memory, large ones from the file, part by part.
//!
//! Memory maps would be as fast for all, but a file that shrinks or fails under a map ends the process; a
//! read that fails is an error.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use shakmaty_syzygy::filesystem::{Filesystem, OsFilesystem, RandomAccessFile, ReadHint};

use super::shelf::SMALL;

/// The files of this machine.
pub struct TableReader;

impl Filesystem for TableReader {
    fn regular_file_size(&self, path: &Path) -> io::Result<u64> {
        OsFilesystem::new().regular_file_size(path)
    }

    fn read_dir(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        OsFilesystem::new().read_dir(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn RandomAccessFile>> {
        if File::open(path)?.metadata()?.len() > SMALL {
            return OsFilesystem::new().open(path);
        }
        Ok(Box::new(Loaded(std::fs::read(path)?)))
    }
}

/// A file in memory.
struct Loaded(Vec<u8>);

impl RandomAccessFile for Loaded {
    fn read_at(&self, buffer: &mut [u8], offset: u64, _hint: ReadHint) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.0.get(start..)).unwrap_or(&[]);
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}
